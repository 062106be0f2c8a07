"""A server that speaks Qdrant's REST interface, with the client's own embedded mode behind it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import QdrantClient
from qdrant_client.models import Batch, CreateCollection, QueryRequest


class QdrantServer:
    """Answers the calls that are made of it.

    ``fails`` is the status of the next calls, ``key`` what must be sent, ``points_left`` how many points it takes
    before it fails; at ``meeting``, searches wait for one another.
    """

    def __init__(self, key: str = "") -> None:
        self.client = QdrantClient(":memory:")
        self.key = key
        self.fails = 0
        self.points_left = 10**9
        self.calls: list[str] = []
        self.url = ""
        self.lock = threading.Lock()
        self.meeting: threading.Barrier | None = None

    def result(self, method: str, parts: list[str], body: Any) -> Any:
        name, rest = parts[1], "/".join(parts[2:])
        match method, rest:
            case "GET", "exists":
                return {"exists": self.client.collection_exists(name)}
            case "PUT", "":
                given = CreateCollection(**body)
                self.client.create_collection(name, vectors_config=given.vectors, metadata=given.metadata)
                return True
            case "GET", "":
                return self.client.get_collection(name).model_dump(mode="json")
            case "POST", "points/count":
                return self.client.count(name).model_dump()
            case "PUT", "points":
                return self.upsert(name, Batch(**body["batch"]))
            case "POST", "points/query/batch":
                asked = [QueryRequest(**request) for request in body["searches"]]
                return [found.model_dump(mode="json") for found in self.client.query_batch_points(name, asked)]
        raise LookupError(f"{method} {'/'.join(parts)}")

    def upsert(self, name: str, batch: Any) -> Any:
        if self.points_left < len(batch.ids):
            self.fails = 503
            raise LookupError("out of order")
        self.points_left -= len(batch.ids)
        return self.client.upsert(name, points=batch).model_dump(mode="json")


@contextmanager
def serving(key: str = "") -> Iterator[QdrantServer]:
    """Run the server on a free port of this machine."""
    server = QdrantServer(key)

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            parts = urlsplit(self.path).path.strip("/").split("/")
            if server.meeting is not None and parts[-1] == "batch":
                server.meeting.wait()
            with server.lock:
                server.calls.append("/".join([self.command, *parts[2:]]))
                status, result = self.status_and_result(parts, json.loads(body) if body else None)
            sent = json.dumps({"result": result, "status": "ok", "time": 0.0}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def status_and_result(self, parts: list[str], body: Any) -> tuple[int, Any]:
            if self.headers.get("api-key", "") != server.key:
                return 401, None
            if server.fails:
                return server.fails, None
            try:
                return 200, server.result(self.command, parts, body)
            except LookupError:
                return server.fails or 404, None

        do_GET = do_PUT = do_POST = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Stay quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server.url = f"http://127.0.0.1:{http.server_address[1]}"
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield server
        http.shutdown()
