"""A stand-in for the Hugging Face hub: a server on this machine that hands out folders as models."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Models by their names, each a folder; `asked` are the paths that were asked for."""

    def __init__(self, models: dict[str, Path]):
        super().__init__(("127.0.0.1", 0), Answer)
        self.models, self.asked = models, list[str]()

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to take it for the hub."""
        address = f"http://127.0.0.1:{self.server_port}"
        return {"HF_ENDPOINT": address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1"}


class Answer(BaseHTTPRequestHandler):
    """What is in a model, and one of its files."""

    server: Hub

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].strip("/")
        self.server.asked.append(path)
        listing = path.startswith("api/models/")
        name = next((one for one in self.server.models if path.removeprefix("api/models/").startswith(f"{one}/")), "")
        rest = path.removeprefix("api/models/").removeprefix(f"{name}/")
        folder = self.server.models.get(name)
        file = folder / rest.removeprefix(f"resolve/{COMMIT}/") if folder else None
        if folder and listing and rest.startswith("revision/"):
            self.say(
                json.dumps({"id": name, "sha": COMMIT, "siblings": [{"rfilename": f.name} for f in files(folder)]})
            )
        elif folder and listing and rest.startswith("tree/"):
            self.say(json.dumps([about(one) for one in files(folder)]))
        elif file and file.is_file():
            self.say(file.read_bytes(), etag=about(file)["oid"])
        else:
            self.send_error(404)

    do_HEAD = do_GET

    def say(self, content: str | bytes, etag: str = "") -> None:
        body = content.encode() if isinstance(content, str) else content
        self.send_response(200)
        kind = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT} if etag else {"Content-Type": "application/json"}
        for name, value in {**kind, "Content-Length": f"{len(body)}"}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *args) -> None:
        """Say nothing."""


def files(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if one.is_file())


def about(file: Path) -> dict:
    content = file.read_bytes()
    return {"type": "file", "path": file.name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}


@contextmanager
def hub(models: dict[str, Path]) -> Iterator[Hub]:
    """A hub that runs as long as the block."""
    server = Hub(models)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
