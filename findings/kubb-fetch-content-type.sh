#!/bin/sh
# The fetch client of Kubb sends JSON without saying that it is JSON.
#
# Version: @kubb/cli, @kubb/core, @kubb/plugin-oas, @kubb/plugin-ts and @kubb/plugin-client 4.39.3, with the fetch of Node 20.20.2.
# Source: the Fetch standard ("extract a body") gives a body that is a text the type text/plain;charset=UTF-8, unless a header is
#   set. The generated function sets none for application/json; for other types it does.
# Behaviour: a server that obeys the document refuses the body with 415.
# Remedy: setConfig({ headers: { 'content-type': 'application/json' } }).
# Output seen:
#   text/plain;charset=UTF-8 {"name":"lamp"}
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund @kubb/cli@4.39.3 @kubb/core@4.39.3 \
  @kubb/plugin-oas@4.39.3 @kubb/plugin-ts@4.39.3 @kubb/plugin-client@4.39.3 typescript@5.9.3 > /dev/null
cat > document.json <<'END'
{"openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "paths": {"/things": {"post": {"operationId": "createThing",
  "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
  "responses": {"200": {"description": "Made.", "content": {"application/json": {"schema": {"type": "object"}}}}}}}},
 "components": {"schemas": {"Thing": {"type": "object", "properties": {"name": {"type": "string"}}}}}}
END
cat > kubb.config.mjs <<'END'
import { defineConfig } from '@kubb/core'
import { pluginClient } from '@kubb/plugin-client'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginTs } from '@kubb/plugin-ts'
export default defineConfig({
  input: { path: './document.json' },
  output: { path: './out', clean: true, format: false, lint: false },
  plugins: [
    pluginOas({ generators: [] }),
    pluginTs({ output: { path: 'types.ts' } }),
    pluginClient({ output: { path: 'client.ts' }, client: 'fetch' }),
  ],
})
END
npx kubb generate --config kubb.config.mjs > /dev/null 2>&1
npx tsc --skipLibCheck --target es2022 --module esnext --moduleResolution bundler out/client.ts > /dev/null || true
cat > call.mjs <<'END'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setConfig } from '@kubb/plugin-client/clients/fetch'
import { createThing } from './out/client.js'

const server = createServer(async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  console.log(request.headers['content-type'], Buffer.concat(parts).toString())
  response.setHeader('content-type', 'application/json').end('{}')
})
await once(server.listen(0, '127.0.0.1'), 'listening')
setConfig({ baseURL: `http://127.0.0.1:${server.address().port}` })
await createThing({ name: 'lamp' })
server.close()
server.closeAllConnections()
END
seen=$(node call.mjs)
echo "$seen"
test "$seen" = 'text/plain;charset=UTF-8 {"name":"lamp"}'
