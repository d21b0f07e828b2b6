#!/bin/sh
# oazapfts leaves a whole list out of a body if the objects in it have an object with a read-only field.
#
# Version: oazapfts 7.5.0.
# Source: OpenAPI 3.1, readOnly: the value of that field is ignored or refused in a request. It says nothing about the list around it.
# Behaviour: the type of the body has no `items`, although `items` is required. Nobody can send it without a cast. The generator
#   exits with 0 and prints no warning. With the inner object as a component, the list stays, and only the read-only field goes.
# Output seen:
#   inline: no items
#   component: items
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund oazapfts@7.5.0 > /dev/null

# The argument: the schema of the data of an item.
look() {
  cat > document.json <<END
{"openapi": "3.1.0", "info": {"title": "Things", "version": "1"},
 "paths": {"/things/batch": {"post": {"operationId": "batchThings",
   "requestBody": {"required": true, "content": {"application/json": {"schema": {"\$ref": "#/components/schemas/Body"}}}},
   "responses": {"204": {"description": "Done."}}}}},
 "components": {"schemas": {
   "Thing": {"type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "integer", "readOnly": true}}},
   "Body": {"type": "object", "required": ["items"], "properties": {"atomic": {"type": "boolean"},
     "items": {"type": "array", "items": {"type": "object", "properties": {"data": $1}}}}}}}}
END
  npx oazapfts document.json client.ts > /dev/null
  if sed -n '/^export type Body = {/,/^};/p' client.ts | grep -q 'items'; then echo 'items'; else echo 'no items'; fi
}

seen=$(
  echo "inline: $(look '{"type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "integer", "readOnly": true}}}')"
  echo "component: $(look '{"$ref": "#/components/schemas/Thing"}')"
)
echo "$seen"
test "$seen" = 'inline: no items
component: items'
