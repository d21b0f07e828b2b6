#!/bin/sh
# openapi-zod-client writes an enum that has null as code that TypeScript refuses.
#
# Version: openapi-zod-client 1.18.3 with zod 3.25.76 and typescript 5.9.3.
# Source: OpenAPI 3.1 takes schemas of JSON Schema 2020-12. There, an enum may have any value, and a nullable one must list null.
# Behaviour: {"type": ["string", "null"], "enum": ["a", null]} becomes z.enum(["a", null]). z.enum takes texts only: TS2769. The
#   same choice as {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]} becomes z.union([z.literal("a"), z.null()]).
# Output seen:
#   listed: z.union([z.enum(["a", null]), z.null()])
#   choice: z.union([z.literal("a"), z.null()])
#   TS2769
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund \
  openapi-zod-client@1.18.3 @zodios/core@10.9.6 zod@3.25.76 axios@1.13.2 typescript@5.9.3 > /dev/null
cat > document.json <<'END'
{"openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "paths": {}, "components": {"schemas": {"Thing": {
  "type": "object", "required": ["listed", "choice"], "properties": {
    "listed": {"type": ["string", "null"], "enum": ["a", null]},
    "choice": {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}}}}}}
END
node node_modules/openapi-zod-client/bin.js document.json -o client.ts --export-schemas > /dev/null
npx tsc --noEmit --strict --skipLibCheck --target es2022 --module esnext --moduleResolution bundler client.ts > log || true
seen=$(
  grep -oE '(listed|choice): z.*\)' client.ts
  grep -oE 'TS[0-9]+' log | sort -u
)
echo "$seen"
test "$seen" = 'listed: z.union([z.enum(["a", null]), z.null()])
choice: z.union([z.literal("a"), z.null()])
TS2769'
