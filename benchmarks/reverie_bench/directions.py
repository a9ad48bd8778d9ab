"""The directions that tell personal messages from others by the built-in models: `python -m reverie_bench.directions`.

The messages are those of `search/labelled_messages`, but for those that the adapters are learnt from. What is written
is part of how relevance is made, not of a model's identity: no database has to be migrated for it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_bench.answers import IDLE, needs_nothing
from reverie_indexer.embed.built_in import BUILT_IN
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.search.labelled_messages import PERSONAL, direction_of, labelled_messages
from reverie_server.search.relevance import DIRECTIONS_FILE


async def main() -> None:
    """Write the directions beside the module of relevance."""
    directions = {}
    for name, model in BUILT_IN.items():
        with tempfile.TemporaryDirectory() as directory:
            embedder = load_local(Path(directory), model)
        personal = [text for label in PERSONAL for text in labelled_messages(label)]
        impersonal = [text for language in IDLE for text in needs_nothing(language, is_learnt=False)]
        found = direction_of(await _vectors(embedder, personal), await _vectors(embedder, impersonal))
        directions[name] = {
            "weights": [round(float(weight), 4) for weight in found.weights],
            "offset": round(found.offset, 4),
        }
        await embedder.aclose()
    DIRECTIONS_FILE.write_text(json.dumps(directions) + "\n")


async def _vectors(embedder: LocalEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.stack([np.asarray(vector, np.float32) for vector in await embedder.embed(texts, "message")])


if __name__ == "__main__":
    asyncio.run(main())
