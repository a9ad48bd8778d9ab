"""The mean vectors that are taken out of multilingual-e5-small's: `python -m reverie_bench.means`.

The texts are our own: what four invented people have in their memories (passages) and say about them (queries), in
English, German, Spanish and Chinese, each language with the same weight. What is written is part of the model's
identity: a database that was made with other means has to be migrated.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.embed import built_in
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_indexer.embed.protocol import Role

TURNS = Path(__file__).parents[1] / "inject"
LANGUAGES = ("english", "german", "spanish", "chinese")
_MIN_CHARS = 12


def texts_of(language: str) -> dict[Role, list[str]]:
    """The lines of a person's memory, without headings, and what is said to their assistant."""
    source = json.loads((TURNS / f"{language}.json").read_text())
    lines = [line for file in source["memory"].values() for line in file]
    passages = [line for line in lines if len(line) > _MIN_CHARS and not line.startswith("#")]
    return {"query": [turn["message"] for turn in source["turns"]], "passage": passages}


async def mean_of(embedder: LocalEmbedder, texts: Sequence[str], role: Role) -> NDArray[np.float64]:
    """The mean of the vectors of some texts."""
    vectors = np.stack([np.asarray(vector, np.float64) for vector in await embedder.embed(texts, role)])
    return np.asarray(vectors.mean(axis=0), np.float64)


async def main() -> None:
    """Write the means beside the model's module."""
    with tempfile.TemporaryDirectory() as directory:
        raw = load_local(Path(directory), replace(built_in.E5, has_means=False))
    texts = [texts_of(language) for language in LANGUAGES]
    roles: tuple[Role, ...] = ("query", "passage")
    means = {
        role: np.mean([await mean_of(raw, of_language[role], role) for of_language in texts], axis=0).round(6).tolist()
        for role in roles
    }
    built_in.MEANS_FILE.write_text(json.dumps(means) + "\n")
    await raw.aclose()


if __name__ == "__main__":
    asyncio.run(main())
