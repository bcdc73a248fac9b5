"""Receives webhooks: checks the signature over the raw body, takes every event once, answers 204.

    WEBHOOK_SECRET=whsec_... PORT=4100 python3 receiver.py

With WEBHOOK_STANDARD=1 it checks the Standard Webhooks signature instead, which also proves when it was sent.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

MOST_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300

SECRET = os.environ.get("WEBHOOK_SECRET", "")
STANDARD = os.environ.get("WEBHOOK_STANDARD") == "1"

# Ids of events that were taken. A real shop keeps them in its database, in the transaction that acts on the event.
seen = set()
lock = Lock()


def has_platform_signature(headers, body):
    """The key is the whole text of the secret. During a rotation the next secret signs, too."""
    expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    names = ("X-Platform-Signature", "X-Platform-Signature-Next")
    # The comparison takes equally long wherever the two differ.
    return any(hmac.compare_digest(headers.get(name, "").encode(), expected.encode()) for name in names)


def has_standard_signature(headers, body):
    """The key is what the secret's base64 stands for; id and time are signed with the body."""
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs(time.time() - int(sent)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), expected.encode()) for one in signatures)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return self.answer(413)
        # The bytes as they came: JSON that is parsed and written again is other bytes.
        body = self.rfile.read(int(length))
        is_genuine = has_standard_signature if STANDARD else has_platform_signature
        if not is_genuine(self.headers, body):
            print("bad signature", flush=True)
            return self.answer(401)
        # Read only what is proven to be genuine; the id is in the body, so it is signed.
        event = json.loads(body)
        with lock:
            word = "again" if event["id"] in seen else "ok"
            seen.add(event["id"])
        print(word, event["type"], event["id"], flush=True)
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    if not SECRET.startswith("whsec_"):
        sys.exit("WEBHOOK_SECRET must be the secret that saving the webhook showed")
    host, port = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "4100"))
    server = ThreadingHTTPServer((host, port), Receiver)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()
