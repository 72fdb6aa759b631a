"""Answers OpenAI's chat completions with the key that it was shown, over TLS, until its input ends; prints its address.

Usage: tls_model.py CERTIFICATE KEY
"""

import json
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"content": f"{self.connection.version()} {self.headers['Authorization']}"}
        body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
server = HTTPServer(("127.0.0.1", 0), Model)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"serving at http://127.0.0.1:{server.server_port}", flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
