"""A local server that speaks the protocol of chat completions with pictures, and fails as real ones do."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """An answer in the place of a good one. `after` seconds, `cut` in the middle, `raw` instead of a JSON body."""

    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})
    body: Any = None
    raw: bytes | None = None
    after: float = 0.0
    cut: bool = False


class Chat:
    """`texts` gives what a picture (its bytes) shows; `planned` answers come first, one a request."""

    def __init__(self) -> None:
        self.address = ""
        self.key = ""
        self.texts: dict[bytes, str] = {}
        self.planned: list[Answer] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.times: list[float] = []

    def completion(self, **message: Any) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": "eyes",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    def answer(self, path: str, authorization: str, question: dict[str, Any]) -> Answer:
        self.asked.append(question)
        self.keys.append(authorization)
        self.times.append(time.monotonic())
        if self.planned:
            return self.planned.pop(0)
        if path != "/v1/chat/completions":
            return Answer(404, body={"error": {"message": f"no such address: {path}"}})
        if self.key and authorization != f"Bearer {self.key}":
            return Answer(401, body={"error": {"message": f"Incorrect API key provided: {authorization[:12]}***"}})
        if question["model"] != "eyes":
            return Answer(404, body={"error": {"code": "model_not_found", "message": "no such model"}})
        image = next(part["image_url"]["url"] for part in question["messages"][0]["content"] if "image_url" in part)
        kind, _, payload = image.partition(";base64,")
        picture = base64.b64decode(payload, validate=True)
        if not kind.startswith("data:image/"):
            return Answer(400, body={"error": {"message": "no picture"}})
        return Answer(body=self.completion(content=self.texts[picture]))


@contextmanager
def serve() -> Iterator[Chat]:
    chat = Chat()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = chat.answer(self.path, self.headers.get("Authorization", ""), question)
            time.sleep(answer.after)
            body = answer.raw if answer.raw is not None else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if answer.cut else body)
            self.close_connection = True

        def log_message(self, format: str, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    chat.address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
