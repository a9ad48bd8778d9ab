"""The embedder that all share: this project's own, in the adapter's process. Safe for several threads.

Needs the checkout's `indexer` on PYTHONPATH and PEERS_MODEL_DIR: a directory with the weights, the tokenizer and the
converted model, which the driver fills. The requirements are `embedder.txt`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie_indexer.embed.local import LocalEmbedder


def embed(texts: Sequence[str]) -> list[list[float]]:
    """The i'th vector, of length 1, for the i'th text. Empty in, empty out."""
    return [[float(x) for x in vector] for vector in embed_arrays(texts)]


def embed_arrays(texts: Sequence[str]) -> list[NDArray[np.float32]]:
    """The same as float32 arrays, for libraries that take them."""
    future = asyncio.run_coroutine_threadsafe(_embed(texts), _loop())
    return future.result()


async def aembed(texts: Sequence[str]) -> list[list[float]]:
    """The same for callers with an event loop of their own, which it does not block."""
    future = asyncio.run_coroutine_threadsafe(_embed(texts), _loop())
    return [[float(x) for x in vector] for vector in await asyncio.wrap_future(future)]


async def _embed(texts: Sequence[str]) -> list[Any]:
    # `Embedding` may be a refusal in the type; the local model never refuses a text.
    return list(await _model().embed(texts))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """An event loop in a thread of its own: the embedder is asynchronous, the peers' hooks are not."""
    _model()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="embedder", daemon=True).start()
    return loop


@cache
def _model() -> LocalEmbedder:
    from reverie_indexer.embed.built_in import MINILM
    from reverie_indexer.embed.local import load_local

    directory = Path(os.environ["PEERS_MODEL_DIR"])
    return load_local(directory, MINILM, weights_dir=directory)


def warm_up() -> None:
    """Load the model now, so that the first write does not pay for it."""
    embed(["warm"])
