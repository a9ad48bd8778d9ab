"""Reverie itself, over HTTP: `reverie serve` as a process of its own, with the settings as they ship.

Items with a day become paragraphs of that day's daily note, the others a note each. An owner is an owner of one
agent's memory. Which line is which item is kept beside the data, as a client with ids of its own would do it.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from base import Adapter, Item, Opening, main, resident_bytes

_START_SECONDS = 120
_ANSWER_SECONDS = 120
_IDLE_SECONDS = 3
_LINES = "lines.json"
_NO_ITEM = ""  # a passage of a seed file, a heading alone, or a fact


class Reverie(Adapter):
    """The server in this process's group, a connection a thread."""

    notes = (
        "HTTP server in a process of its own; the others are libraries in the client's process unless noted",
        "a passage of several items counts as all of them, in order; its seed files, and facts of lines that are not "
        "among the results themselves, take places in the list",
    )

    def open(self, opening: Opening) -> str:
        self._directory = opening.directory
        self._local = threading.local()
        saved = opening.directory / _LINES
        self._lines: dict[str, dict[str, dict[str, str]]] = json.loads(saved.read_text()) if saved.exists() else {}
        self._notes: dict[str, dict[str, str]] = defaultdict(dict)
        self._serve(opening)
        return version("reverie")

    def write(self, user: str, items: Sequence[Item]) -> None:
        for path, text in self._as_notes(user, items).items():
            answer = self._call("PUT", f"/files/{quote(path)}", {"content": text, "owner_key": f"user:{user}"})
            if not answer["embedded"]:
                raise RuntimeError(f"{path} is kept but not embedded yet")

    def search(self, user: str, query: str, k: int) -> list[str]:
        request = {"query": query, "owner_key": f"user:{user}", "max_results": k}
        answer = self._call("POST", "/memory/search", request, missing={"results": []})
        ids: list[str] = []
        for hit in answer["results"]:
            touched = self._items(user, hit) if hit["scope"] == "personal" else [_NO_ITEM]
            ids += [item for item in touched if item == _NO_ITEM or item not in ids]
        return ids[:k]

    def _items(self, user: str, hit: Mapping[str, Any]) -> list[str]:
        """Whose and which items a passage holds, by the owner that the server names: a leak must show as one."""
        owned = self._lines.get(hit["owner_key"].removeprefix("user:"), {})
        if hit["tier"] == "fact" and owned is self._lines.get(user):
            return [_NO_ITEM]
        lines = owned.get(hit["path"])
        if lines is None:
            return [f"{hit['owner_key']} {hit['path']}"]
        touched = [lines[str(line)] for line in range(hit["start_line"], hit["end_line"] + 1) if str(line) in lines]
        return list(dict.fromkeys(touched)) or [_NO_ITEM]

    def rss(self) -> int:
        return resident_bytes(self._process.pid)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(60)

    def _as_notes(self, user: str, items: Sequence[Item]) -> dict[str, str]:
        """The notes that these items change, whole, by path."""
        changed: dict[str, str] = {}
        places = self._lines.setdefault(user, {})
        for item in items:
            path = f"memory/{item.at[:10]}.md" if item.at else f"notes/{item.id}.md"
            text = self._written(user, path) or (f"# {item.at[:10]}\n" if item.at else "")
            text += f"\n{item.text}\n" if text else f"{item.text}\n"
            first = text.count("\n") - item.text.count("\n")
            lines = places.setdefault(path, {})
            lines |= {str(line): item.id for line in range(first, text.count("\n") + 1)}
            self._notes[user][path] = changed[path] = text
        scratch = self._directory / f"{_LINES}.new"
        scratch.write_text(json.dumps(self._lines))
        scratch.replace(self._directory / _LINES)
        return changed

    def _written(self, user: str, path: str) -> str:
        """The note as it is; after a start, what the server has."""
        if path not in self._notes[user] and path in self._lines.get(user, {}):
            kept = self._call("GET", f"/files/{quote(path)}?owner_key=user:{user}", None, missing={"content": ""})
            self._notes[user][path] = kept["content"]
        return self._notes[user].get(path, "")

    def _serve(self, opening: Opening) -> None:
        data = opening.directory / "data"
        (data / "models").mkdir(parents=True, exist_ok=True)
        for graph in Path(os.environ["PEERS_MODEL_DIR"]).glob("*.onnx"):
            here = data / "models" / graph.name
            if not here.exists():
                here.symlink_to(graph)
        given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
        self._process = subprocess.Popen(  # noqa: S603  # this project's own command
            [sys.executable, "-m", "reverie_server.cli.main", "serve", "--port", "0", "--data-dir", str(data)],
            env={**given, "REVERIE_DATABASE_URL": opening.dsn, "REVERIE_EMBEDDER": "local:all-MiniLM-L6-v2"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=opening.directory,
        )
        listening = threading.Event()
        threading.Thread(target=self._read, args=(listening,), daemon=True).start()
        if not listening.wait(_START_SECONDS):
            raise RuntimeError("reverie serve did not start; its messages are on standard error")
        while self._request("GET", "/readyz", None)[0] != 200:
            if self._process.poll() is not None:
                raise RuntimeError("reverie serve ended; its messages are on standard error")

    def _read(self, listening: threading.Event) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            sys.stderr.write(line)
            if match := re.search(r"listens on (http://\S+)", line):
                self._address = urlsplit(match[1])
                listening.set()

    def _call(self, method: str, path: str, body: Any, missing: Any = None) -> Any:
        status, answer = self._request(method, f"/api/v1/agents/peers{path}", body)
        if status == 404 and missing is not None:
            return missing
        if status not in (200, 201):
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def _request(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        here = self._local
        # The server closes a connection that was idle for five seconds.
        if not hasattr(here, "connection") or time.monotonic() > here.used + _IDLE_SECONDS:
            here.connection = http.client.HTTPConnection(self._address.netloc, timeout=_ANSWER_SECONDS)
        encoded = None if body is None else json.dumps(body).encode()
        here.connection.request(method, path, encoded, {"Content-Type": "application/json"})
        response = here.connection.getresponse()
        answer = json.loads(response.read())
        here.used = time.monotonic()
        return response.status, answer


if __name__ == "__main__":
    main(Reverie)
