"""Loads the default model, embeds one text, and ends: what `bench startup` compares with."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from reverie_indexer.embed.local import load_local


def main(model_dir: str, weights_dir: str, threads: str) -> None:
    """Load it from where the program has it."""
    embedder = load_local(Path(model_dir), weights_dir=Path(weights_dir), threads=int(threads))

    async def embed() -> None:
        await embedder.embed(["the lantern at the harbour is green"])
        await embedder.aclose()

    asyncio.run(embed())


if __name__ == "__main__":
    main(*sys.argv[1:])
