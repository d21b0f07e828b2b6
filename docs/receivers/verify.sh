#!/bin/sh
# Checks a saved request with openssl alone:
#   WEBHOOK_SECRET='whsec_…' sh verify.sh BODY_FILE 'sha256=…'
# BODY_FILE holds the body byte for byte: no added line break, no re-indented JSON.
# While openssl runs, the secret stands in the process list: use it on a machine of your own.
set -eu
body=$1
given=$2
expected="sha256=$(openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r "$body" | cut -d ' ' -f 1)"
if [ "$given" = "$expected" ]; then
  echo 'signature ok'
else
  echo "signature wrong: this body and secret give $expected" >&2
  exit 1
fi
