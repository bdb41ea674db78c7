"""pip install -r requirements.txt && python main.py (Python 3.10 or later)"""

import json
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os import environ

import jwt

from caller import Assertions, caller_from_headers

assertions = Assertions(
    environ.get("JWKS_URL", "http://127.0.0.1:9100/.well-known/jwks.json"),
    environ.get("ISSUER", "postern"),
    environ.get("AUDIENCE", "orders"),
)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status = 200
        try:
            asserted = asdict(assertions.caller(self.headers.get("X-Postern-Assertion", "")))
        except jwt.PyJWTError as error:
            asserted, status = {"refused": str(error)}, 401
        told = caller_from_headers(self.headers)
        answer = {"asserted": asserted, "headers": None if told is None else asdict(told)}
        body = (json.dumps(answer, ensure_ascii=False) + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(environ.get("PORT", "8080"))), Handler).serve_forever()
