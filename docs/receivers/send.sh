#!/bin/sh
# Sends a signed event to a receiver, as the service would, and prints the status that it answers with:
#   WEBHOOK_SECRET='whsec_…' sh send.sh http://127.0.0.1:4000/ BODY_FILE [DELIVERY_ID]
# The same DELIVERY_ID again is what a retry looks like; another WEBHOOK_SECRET is refused.
set -eu
url=$1
body=$2
delivery=${3:-test-$(date +%s)}
signature="sha256=$(openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r "$body" | cut -d ' ' -f 1)"
curl -sS -o /dev/null -w '%{http_code}\n' \
  -H 'Content-Type: application/json' \
  -H "X-Service-Delivery: $delivery" \
  -H "X-Service-Signature: $signature" \
  --data-binary "@$body" "$url"
