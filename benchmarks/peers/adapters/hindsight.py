"""hindsight as a server of its own, over HTTP, without a language model: a bank for every user.

What it loses by that: its facts, entities, observations and its cross-encoder are models' work. Without one its
documented mode is `LLM_PROVIDER=none`: texts are kept as they are (`chunks`), found by meaning, words and time, and
fused by reciprocal ranks (`RERANKER_PROVIDER=rrf`, since the weights of its cross-encoder come from a hub). It embeds
with its own ONNX provider, which is given the shared embedder's converted model.

Its fourth way in, the graph, is switched off by its own setting. Without entities it follows nearness in time and
meaning only, and without a cross-encoder what it brings has the weight of the best: with it, half as much of nDCG.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from base import Adapter, Item, Opening, main, sqlalchemy_url

if TYPE_CHECKING:
    import httpx

_MAX_TOKENS = "256"  # what the shared embedder reads of a text
_START_SECONDS = 300.0
_REQUEST_SECONDS = 600.0
_NOT_FOUND = 404
_BATCH = 100
_RECALL_TOKENS = 4096  # its default, meant for an answer of about ten passages


class Hindsight(Adapter):
    """A client of the server that it starts; the server is its child, and dies with its process group."""

    notes = (
        "over HTTP; no language model, so no facts, entities or observations: texts are kept whole (its mode `chunks`)",
        "its cross-encoder needs weights from a hub: reciprocal rank fusion instead, as its setting `rrf` offers",
        "its graph retrieval is off: without entities and cross-encoder it halves nDCG here",
        "embeds in its own process with its ONNX provider and the shared weights",
        "a bank for every user; recall with its default budget",
    )

    _server: subprocess.Popen[bytes]
    _client: httpx.Client

    def open(self, opening: Opening) -> str:
        """Start the server on the database and wait until it says it is ready."""
        import httpx

        port = _free_port()
        environment = {**os.environ, **_settings(opening)}
        command = [sys.executable, "-m", "hindsight_api.main", "--host", "127.0.0.1", "--port", str(port)]
        self._server = subprocess.Popen(command, env=environment, cwd=opening.directory)  # noqa: S603  # fixed words
        atexit.register(self._server.terminate)  # also when the input ends without a word
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=_REQUEST_SECONDS)
        self._wait_until_ready()
        return version("hindsight-api-slim")

    def write(self, user: str, items: Sequence[Item]) -> None:
        """Retain, waiting for the end of it; a document an item."""
        for start in range(0, len(items), _BATCH):
            kept = [
                {"content": item.text, "document_id": item.id, "timestamp": item.at or "unset"}
                for item in items[start : start + _BATCH]
            ]
            _checked(self._client.post(f"{_bank(user)}/memories", json={"items": kept, "async": False}))

    def search(self, user: str, query: str, k: int) -> list[str]:
        """The documents of what is recalled, each once, at its best place."""
        tokens = _RECALL_TOKENS * ceil(k / 10)
        request = {"query": query, "max_tokens": tokens, "include": {"entities": None}}
        answer = self._client.post(f"{_bank(user)}/memories/recall", json=request)
        if answer.status_code == _NOT_FOUND:  # nothing was ever written to this bank
            return []
        results = _checked(answer)["results"]
        return list(dict.fromkeys(str(result["document_id"]) for result in results))[:k]

    def close(self) -> None:
        """Stop the server."""
        self._client.close()
        self._server.terminate()
        self._server.wait()

    def _wait_until_ready(self) -> None:
        import httpx

        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if self._server.poll() is not None:
                raise RuntimeError(f"the server ended with {self._server.returncode}; its last words are in the log")
            try:
                if self._client.get("/health/ready").status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise RuntimeError(f"the server was not ready after {_START_SECONDS:.0f} s")


def _checked(answer: httpx.Response) -> Any:
    if answer.is_error:
        raise RuntimeError(f"{answer.status_code} {answer.text[:500]}")
    return answer.json()


def _bank(user: str) -> str:
    return f"/v1/default/banks/{quote(user, safe='')}"


def _settings(opening: Opening) -> dict[str, str]:
    model = Path(os.environ["PEERS_MODEL_DIR"])
    graph = model / "plain" / "model.onnx"
    return {
        "HF_HUB_OFFLINE": "1",
        "OTEL_SDK_DISABLED": "true",
        "HINDSIGHT_API_DATABASE_URL": sqlalchemy_url(opening.dsn, "asyncpg").replace("+asyncpg", "", 1),
        "HINDSIGHT_API_LLM_PROVIDER": "none",
        "HINDSIGHT_API_RERANKER_PROVIDER": "rrf",
        "HINDSIGHT_API_ENABLE_GRAPH_RETRIEVAL": "false",
        "HINDSIGHT_API_WORKER_ID": "peers",  # the same after a kill, so that it takes up its own tasks
        "HINDSIGHT_API_MCP_ENABLED": "false",
        "HINDSIGHT_API_LOG_LEVEL": "warning",
        "HINDSIGHT_API_EMBEDDINGS_PROVIDER": "onnx",
        "HINDSIGHT_API_EMBEDDINGS_ONNX_MODEL_PATH": str(graph),
        "HINDSIGHT_API_EMBEDDINGS_ONNX_TOKENIZER_NAME_OR_PATH": str(_tokenizer(model, opening.directory)),
        "HINDSIGHT_API_EMBEDDINGS_ONNX_DIMENSIONS": str(opening.dimension),
        "HINDSIGHT_API_EMBEDDINGS_ONNX_MAX_TOKENS": _MAX_TOKENS,
        "HINDSIGHT_API_EMBEDDINGS_ONNX_QUERY_PREFIX": "",
        "HINDSIGHT_API_EMBEDDINGS_ONNX_PASSAGE_PREFIX": "",
        "HINDSIGHT_API_EMBEDDINGS_ONNX_OUTPUT_NAME": "embedding",
    }


def _tokenizer(model: Path, directory: Path) -> Path:
    """A directory that transformers can load the tokenizer from: it wants to be told of which class it is."""
    home = directory / "tokenizer"
    home.mkdir(exist_ok=True)
    [tokenizer] = model.glob("*/tokenizer.json")
    (home / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    described = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (home / "tokenizer_config.json").write_text(json.dumps(described))
    return home


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    main(Hindsight)
