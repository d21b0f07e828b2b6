#!/bin/sh
# openapi-zod-client ignores const, so a discriminated union of const values cannot be loaded.
#
# Version: openapi-zod-client 1.18.3 with zod 3.25.76.
# Source: OpenAPI 3.1 takes schemas of JSON Schema 2020-12, which has const. In OpenAPI 3.0, an enum of one value stood for it.
# Behaviour: {"type": "string", "const": "cat"} becomes z.string(). With a discriminator, the generated module throws when it is
#   imported, because Zod finds no value that tells the schemas apart. With "enum": ["cat"] beside the const, it loads.
# Output seen:
#   const: Error: A discriminator value for key `kind` could not be extracted from all schema options
#   const and enum: loads
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund \
  openapi-zod-client@1.18.3 @zodios/core@10.9.6 zod@3.25.76 axios@1.13.2 typescript@5.9.3 > /dev/null

# The arguments: the schemas of the kind of a cat and of a dog.
load() {
  cat > document.json <<END
{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"},
 "paths": {"/pet": {"get": {"operationId": "getPet", "responses": {"200": {"description": "A pet.",
   "content": {"application/json": {"schema": {"\$ref": "#/components/schemas/Pet"}}}}}}}},
 "components": {"schemas": {
   "Cat": {"type": "object", "required": ["kind"], "properties": {"kind": $1}},
   "Dog": {"type": "object", "required": ["kind"], "properties": {"kind": $2}},
   "Pet": {"oneOf": [{"\$ref": "#/components/schemas/Cat"}, {"\$ref": "#/components/schemas/Dog"}],
           "discriminator": {"propertyName": "kind"}}}}}
END
  node node_modules/openapi-zod-client/bin.js document.json -o client.ts --export-schemas > /dev/null
  npx tsc --skipLibCheck --target es2022 --module esnext --moduleResolution bundler client.ts > /dev/null || true
  node --input-type=module -e "
    await import('$folder/client.js').then(() => console.log('loads'), (error) => console.log(String(error)))"
}

seen=$(
  echo "const: $(load '{"type": "string", "const": "cat"}' '{"type": "string", "const": "dog"}')"
  echo "const and enum: $(load '{"type": "string", "const": "cat", "enum": ["cat"]}' '{"type": "string", "const": "dog", "enum": ["dog"]}')"
)
echo "$seen"
test "$seen" = 'const: Error: A discriminator value for key `kind` could not be extracted from all schema options
const and enum: loads'
