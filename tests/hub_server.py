"""A local server that speaks as much of the hub's protocol as its client needs to fetch a file."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LATER_COMMIT = "89abcdef0123456789abcdef0123456789abcdef"


class Hub:
    """`files` maps `owner/name/file` to bytes; `status` is the answer for each of them, `root_status` for the root.

    `cut` breaks a transfer off in the middle.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.commit = COMMIT
        self.status = 200
        self.root_status = 200
        self.headers: dict[str, str] = {}
        self.cut = False
        self.requests: list[str] = []
        self.address = ""


@contextmanager
def serve() -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            if self.path.startswith("/blobs/"):
                self._file(hub.files.get(self.path.removeprefix("/blobs/")), body=body)
            elif "/resolve/" in self.path:
                repository, _, rest = self.path[1:].partition("/resolve/")
                self._pointer(f"{repository}/{rest.partition('/')[2]}")
            else:
                self._end(hub.root_status if self.path == "/" else 404)

        def _pointer(self, name: str) -> None:
            data = hub.files.get(name)
            if hub.status != 200:
                self._end(hub.status, hub.headers)
            elif data is None:
                self._end(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": hub.commit})
            else:
                elsewhere = hub.address.replace("127.0.0.1", "localhost")  # another host, as the hub's store is
                headers = {
                    "X-Repo-Commit": hub.commit,
                    "X-Linked-Etag": f'"{hashlib.sha256(data).hexdigest()}"',
                    "X-Linked-Size": str(len(data)),
                    "Location": f"{elsewhere}/blobs/{name}",
                }
                self._end(302, headers)

        def _file(self, data: bytes | None, *, body: bool) -> None:
            if data is None:
                self._end(404)
                return
            self.send_response(200)
            self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if body:
                self.wfile.write(data[: len(data) // 2] if hub.cut else data)
            self.close_connection = hub.cut

        def _end(self, status: int, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for key, value in (headers or {}).items():
                self.send_header(key, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
