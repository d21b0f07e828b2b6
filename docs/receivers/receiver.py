"""A complete webhook receiver, Python 3 standard library only:

    WEBHOOK_SECRET='whsec_...' PORT=4000 python3 receiver.py

During a rotation put the new secret into WEBHOOK_SECRET_NEXT; either one is accepted then.
"""

import hashlib
import hmac
import json
import os
import queue
import sys
import threading
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = [s for s in (os.environ.get("WEBHOOK_SECRET"), os.environ.get("WEBHOOK_SECRET_NEXT")) if s]
PORT = int(os.environ.get("PORT", "4000"))
# Anyone can reach a public endpoint; without a limit anyone can fill its memory.
MAX_BODY_BYTES = 8 * 1024 * 1024
REMEMBERED_DELIVERIES = 10_000


def is_signed_with(secret, body, header):
    """True when the header is `sha256=` + hex HMAC-SHA256 of these bytes under this secret."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    # `==` stops at the first wrong byte and so tells how much of a guess was right.
    return hmac.compare_digest(expected.encode(), (header or "").encode())


def is_genuine(headers, body):
    signatures = (headers.get("X-Service-Signature"), headers.get("X-Service-Signature-Next"))
    return any(is_signed_with(secret, body, signature) for secret in SECRETS for signature in signatures)


# In earnest: a unique column in your database, filled before the answer, so that a restart forgets nothing.
seen = OrderedDict()
seen_lock = threading.Lock()


def is_first_time(delivery):
    with seen_lock:
        if delivery in seen:
            return False
        seen[delivery] = True
        if len(seen) > REMEMBERED_DELIVERIES:
            seen.popitem(last=False)
        return True


def handle(event):
    """Your work goes here; it runs after the answer, so it may take its time."""
    print(event["timestamp"], event["event"], json.dumps(event["data"], ensure_ascii=False), flush=True)


events = queue.Queue()


def work():
    while True:
        event = events.get()
        try:
            handle(event)
        except Exception as error:
            print(event["id"], "could not be handled:", error, file=sys.stderr, flush=True)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return self.answer(411, close=True)
        if int(length) > MAX_BODY_BYTES:
            return self.answer(413, close=True)
        # The raw bytes: parsing and printing JSON again would give others, and the signature would not match.
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body):
            return self.answer(401)

        # Before the delivery counts as seen: what cannot be read must come again, not be taken for a duplicate.
        try:
            event = json.loads(body)
        except ValueError:
            return self.answer(400)
        delivery = self.headers.get("X-Service-Delivery", "")
        if is_first_time(delivery):
            events.put(event)
        else:
            print(delivery, "came again: ignored", flush=True)
        return self.answer(200)

    def answer(self, status, close=False):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if close:
            # The body was not read, so the next request cannot be found on this connection.
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format, *args):
        pass


if __name__ == "__main__":
    if not SECRETS:
        sys.exit("Set WEBHOOK_SECRET to the secret that the registration answered with.")
    threading.Thread(target=work, daemon=True).start()
    print(f"Receiving webhooks on port {PORT}", flush=True)
    ThreadingHTTPServer(("", PORT), Receiver).serve_forever()
