"""A complete webhook receiver, Python 3 standard library only:

    WEBHOOK_SECRET='whsec_...' PORT=4000 python3 receiver.py

During a rotation put the new secret into WEBHOOK_SECRET_NEXT; either one is accepted then.
Deliveries are stored in the SQLite file that STORE names (./received.db).
"""

import hashlib
import hmac
import json
import os
import queue
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = [s for s in (os.environ.get("WEBHOOK_SECRET"), os.environ.get("WEBHOOK_SECRET_NEXT")) if s]
PORT = int(os.environ.get("PORT", "4000"))
# Anyone can reach a public endpoint; without a limit anyone can fill its memory.
MAX_BODY_BYTES = 8 * 1024 * 1024
STORE = os.environ.get("STORE", "received.db")


def is_signed_with(secret, body, header):
    """True when the header is `sha256=` + hex HMAC-SHA256 of these bytes under this secret."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    # `==` stops at the first wrong byte and so tells how much of a guess was right.
    return hmac.compare_digest(expected.encode(), (header or "").encode())


def is_genuine(headers, body):
    signatures = (headers.get("X-Service-Signature"), headers.get("X-Service-Signature-Next"))
    return any(is_signed_with(secret, body, signature) for secret in SECRETS for signature in signatures)


# One row for each delivery. The primary key makes a repeated delivery a no-op.
store = sqlite3.connect(STORE, check_same_thread=False, isolation_level=None)
store.execute("PRAGMA synchronous = FULL")
store.execute("CREATE TABLE IF NOT EXISTS received (delivery TEXT PRIMARY KEY, event TEXT NOT NULL, handled INTEGER DEFAULT 0)")
store_lock = threading.Lock()


def keep(delivery, body):
    """Stores a delivery durably; False when it is stored already."""
    with store_lock:
        insert = "INSERT INTO received (delivery, event) VALUES (?, ?) ON CONFLICT DO NOTHING"
        return store.execute(insert, (delivery, body.decode())).rowcount == 1


def handle(event):
    """Your work goes here. It runs after the answer, and again after a crash that came before its end."""
    print(event["timestamp"], event["event"], json.dumps(event["data"], ensure_ascii=False), flush=True)


deliveries = queue.Queue()


def work():
    while True:
        delivery = deliveries.get()
        try:
            with store_lock:
                (event,) = store.execute("SELECT event FROM received WHERE delivery = ?", (delivery,)).fetchone()
            handle(json.loads(event))
            with store_lock:
                store.execute("UPDATE received SET handled = 1 WHERE delivery = ?", (delivery,))
        except Exception as error:
            print(delivery, "could not be handled; the next start tries again:", error, file=sys.stderr, flush=True)


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

        try:
            json.loads(body)
        except ValueError:
            return self.answer(400)
        # Store first, then answer: a success tells the service to forget the delivery.
        delivery = self.headers.get("X-Service-Delivery", "")
        if keep(delivery, body):
            deliveries.put(delivery)
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
        sys.exit("Set WEBHOOK_SECRET to the secret of your webhook.")
    for (delivery,) in store.execute("SELECT delivery FROM received WHERE handled = 0").fetchall():
        deliveries.put(delivery)
    threading.Thread(target=work, daemon=True).start()
    print(f"Receiving webhooks on port {PORT}", flush=True)
    ThreadingHTTPServer(("", PORT), Receiver).serve_forever()
