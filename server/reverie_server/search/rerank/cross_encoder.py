"""Any cross-encoder of sentence-transformers, by name or path. Needs the extra `reverie[rerank]` (torch)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import structlog

from reverie_indexer.embed.sentence import model_name, sentence_libraries
from reverie_indexer.errors import SetupError
from reverie_server.search.rerank.protocol import RerankFailed

log = structlog.get_logger()
# After each batch it is seen whether anybody still waits.
_BATCH = 8


class CrossEncoderReranker:
    """A loaded cross-encoder, which one thread runs. Make one with `load_cross_encoder`."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="reverie-rerank")

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Reranker.scores`. A call that is cancelled leaves the thread after its batch, or never enters it."""
        given_up = Event()
        try:
            return await asyncio.wrap_future(self._worker.submit(self._score, query, texts, given_up))
        finally:
            given_up.set()

    async def aclose(self) -> None:
        """See `Reranker.aclose`."""
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)

    def _score(self, query: str, texts: Sequence[str], given_up: Event) -> list[float]:
        scores = [0.0] * len(texts)
        # By length, so that little of a batch is padding.
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        for start in range(0, len(order), _BATCH):
            if given_up.is_set():
                break
            rows = order[start : start + _BATCH]
            try:
                found = self._model.predict(
                    [(query, texts[row]) for row in rows], batch_size=_BATCH, show_progress_bar=False
                )
            except Exception as error:  # whatever model it is
                log.warning("rerank_failed", error=type(error).__name__)
                raise RerankFailed("failed; the log says how", is_outage=True) from error
            for row, score in zip(rows, found, strict=True):
                scores[row] = float(score)
        return scores


def load_cross_encoder(model: str, *, device: str | None = None) -> CrossEncoderReranker:
    """Load a cross-encoder by its name on the hub or the path of its directory; blocking, call it in a thread.

    `device` is torch's name, chosen by the library if None. Raises `SetupError` when the extra is not installed or the
    model cannot be loaded, or gives several scores.
    """
    library, is_offline = sentence_libraries("cross-encoder", "rerank")
    name = model_name(model)
    try:
        loaded = library.CrossEncoder(model, device=device, local_files_only=is_offline)
    except (OSError, ValueError, RuntimeError) as error:  # not there, not a model, no such device
        raise SetupError(
            f"The cross-encoder {name} cannot be loaded: check its name or path, the device, and, if it must be "
            "downloaded first, the network and HF_HUB_OFFLINE. The log says why."
        ) from error
    if loaded.num_labels != 1:
        raise SetupError(f"The cross-encoder {name} gives {loaded.num_labels} scores for a text: one is needed.")
    return CrossEncoderReranker(loaded)
