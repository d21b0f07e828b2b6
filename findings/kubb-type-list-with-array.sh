#!/bin/sh
# Kubb makes each type of a list of types an array, if the list has array.
#
# Version: @kubb/cli, @kubb/core, @kubb/plugin-oas and @kubb/plugin-ts 4.39.3.
# Source: JSON Schema 2020-12 (validation, 6.1.1): a value is valid if it has any type of the list. `items` concerns arrays only.
# Behaviour: {"type": ["string", "number", "array"], "items": {"type": "string"}} becomes a union of three equal arrays. A client
#   cannot send a text or a number without a cast. The same choice as anyOf keeps the types.
# Output seen:
#   list: (string[] | string[] | string[])
#   choice: (string | number | string[])
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund \
  @kubb/cli@4.39.3 @kubb/core@4.39.3 @kubb/plugin-oas@4.39.3 @kubb/plugin-ts@4.39.3 > /dev/null
cat > document.json <<'END'
{"openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "paths": {}, "components": {"schemas": {"Thing": {
  "type": "object", "required": ["list", "choice"], "properties": {
    "list": {"type": ["string", "number", "array"], "items": {"type": "string"}},
    "choice": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "string"}}]}}}}}}
END
cat > kubb.config.mjs <<'END'
import { defineConfig } from '@kubb/core'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginTs } from '@kubb/plugin-ts'
export default defineConfig({
  input: { path: './document.json' },
  output: { path: './out', clean: true, format: false, lint: false },
  plugins: [pluginOas({ generators: [] }), pluginTs({ output: { path: 'types.ts' } })],
})
END
npx kubb generate --config kubb.config.mjs > /dev/null 2>&1
seen=$(grep -oE '(list|choice): .*[^;]' out/types.ts)
echo "$seen"
test "$seen" = 'list: (string[] | string[] | string[])
choice: (string | number | string[])'
