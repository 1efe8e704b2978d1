"""A server of a course, played: it answers what a test gives it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

TOKEN = "ada's own"


class Played:
    """A server: answers what it is given, in turn, and keeps what it was asked."""

    def __init__(self):
        self.answers, self.asked, self.files, self.code = [], [], {}, 200
        played = self

        class Answers(BaseHTTPRequestHandler):
            def answer(self):
                played.asked.append((self.command, self.path, self.headers["Authorization"]))
                if self.command == "POST":
                    body = self.rfile.read(int(self.headers["Content-Length"]))
                    played.files = json.loads(body)["files"]
                self.send_response(played.code)
                if played.code == 302:
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()
                if self.path.endswith(".html"):
                    self.wfile.write(b"<p>a page</p>")
                else:
                    self.wfile.write(json.dumps(played.answers.pop(0)).encode())

            def do_GET(self):
                self.answer()

            def do_POST(self):
                self.answer()

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.server.server_port}"


def state(name="queued", **more):
    """What a server says of a hand-in."""
    found = {"assignment": "module1", "state": name, "said": "", "due": None, "deadline": None, "handed_in": None}
    return found | more
