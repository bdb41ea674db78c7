# A service as http.server makes one: it reads no body of a GET, HEAD, OPTIONS or DELETE.
import http.server
import sys


class Careless(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        print(self.command, self.path, self.headers.get("X-User-Id", "-"), flush=True)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = do_OPTIONS = do_DELETE = answer

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Careless)
print(server.server_port, flush=True)
sys.stdout.flush()
server.serve_forever()
