#!/bin/sh
# Zodios cannot type an operation with 40 or more query parameters.
#
# Version: @zodios/core 10.9.6 with zod 3.25.76 and typescript 5.9.3.
# Source: MapSchemaParameters in lib/utils.types.d.ts of the package. The type calls itself once for each parameter, within Merge.
# Behaviour: a call of an operation with 39 query parameters compiles. With 40, TypeScript answers TS2589 at the call, whatever
#   the call sends. The list of parameters is valid, and the program works at run time.
# Remedy: call `api.axios`, and parse the answer by its schema. A cast does not help, because the error is at the method.
# Output seen:
#   39: compiles
#   40: TS2589
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund \
  @zodios/core@10.9.6 zod@3.25.76 axios@1.13.2 typescript@5.9.3 > /dev/null

compile() {
  node > client.ts <<END
const parameters = Array.from({ length: $1 }, (_, n) => '{ name: "p' + n + '", type: "Query", schema: z.string().optional() }')
console.log('import { makeApi, Zodios } from "@zodios/core"')
console.log('import { z } from "zod"')
console.log('const endpoints = makeApi([{ method: "get", path: "/things", alias: "listThings", requestFormat: "json",')
console.log('  parameters: [' + parameters.join(', ') + '], response: z.object({ total: z.number() }) }])')
console.log('const api = new Zodios("http://localhost", endpoints)')
console.log('export const total: Promise<number> = api.listThings({ queries: { p0: "a" } }).then(({ total }) => total)')
END
  if npx tsc --noEmit --strict --skipLibCheck --target es2022 --module esnext --moduleResolution bundler client.ts > log
  then echo "$1: compiles"
  else echo "$1: $(grep -o 'TS[0-9]*' log | sort -u | tr '\n' ' ' | sed 's/ $//')"
  fi
}

seen=$(compile 39; compile 40)
echo "$seen"
test "$seen" = '39: compiles
40: TS2589'
