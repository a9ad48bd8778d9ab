"""The directions that tell personal messages from others by the built-in models: `python -m reverie_bench.directions`.

The messages are those of `search/labelled_messages`. What is written is part of how relevance is made, not of a model's
identity: no database has to be migrated for it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed.built_in import BUILT_IN
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_server.search.labelled_messages import IMPERSONAL, PERSONAL, Label, direction_of, labelled_messages
from reverie_server.search.relevance import DIRECTIONS_FILE


async def main() -> None:
    """Write the directions beside the module of relevance."""
    directions = {}
    for name, model in BUILT_IN.items():
        with tempfile.TemporaryDirectory() as directory:
            embedder = load_local(Path(directory), model)
        found = direction_of(await _vectors(embedder, PERSONAL), await _vectors(embedder, IMPERSONAL))
        directions[name] = {
            "weights": [round(float(weight), 4) for weight in found.weights],
            "offset": round(found.offset, 4),
        }
        await embedder.aclose()
    DIRECTIONS_FILE.write_text(json.dumps(directions) + "\n")


async def _vectors(embedder: LocalEmbedder, labels: tuple[Label, ...]) -> NDArray[np.float32]:
    texts = [message for label in labels for message in labelled_messages(label)]
    return np.stack([np.asarray(vector, np.float32) for vector in await embedder.embed(texts, "query")])


if __name__ == "__main__":
    asyncio.run(main())
