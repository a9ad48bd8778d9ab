"""The memory that a latency run asks: one owner's, written as every write is, beside that of others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reverie_bench.data import load
from reverie_bench.frame import Bench, settle, write_embedded
from reverie_bench.synthetic.fill import Owner, fill, material_of
from reverie_bench.synthetic.rows import CHUNKS_OF_FILE, TENANT
from reverie_bench.synthetic.text import (
    Pairing,
    Pool,
    made_up_sentences,
    pool_of,
    questions_of,
    sentences_of,
    zipf_sizes,
)
from reverie_indexer.index import vectors
from reverie_indexer.model import Place
from reverie_server.runtime import Runtime

AGENT, OWNER = "asked", "user:0"
_MADE_UP = 5000
_OTHERS = 20
_FILES_A_WRITE = 10


def text_pool(data: tuple[Path, ...], seed: int) -> Pool:
    """The sentences and questions of real data, or made-up ones where there is none. ValidationFailed as of `load`."""
    corpora = [load(path) for path in data]
    sentences = sentences_of(corpora) if corpora else made_up_sentences(seed, _MADE_UP)
    return pool_of(sentences, questions_of(corpora))


def notes(pool: Pool, pairing: Pairing, chunks: int) -> Iterator[tuple[str, str]]:
    """Files of `chunks` paragraphs in all, each a passage: path and text."""
    for start in range(0, chunks, CHUNKS_OF_FILE):
        left, right = pairing.pairs(start, min(CHUNKS_OF_FILE, chunks - start))
        texts = [f"{pool.sentences[a]} {pool.sentences[b]}" for a, b in zip(left, right, strict=True)]
        yield f"notes/{start // CHUNKS_OF_FILE:05d}.md", "\n\n".join(texts) + "\n"


async def write_memory(bench: Bench, runtime: Runtime, pool: Pool, chunks: int, seed: int) -> int:
    """Write `chunks` passages for OWNER through the pipeline, and as many for others; how many of OWNER's there are.

    The others' vectors are drawn and not embedded: nobody looks at them. Half of the others share the agent.
    """
    place = Place(TENANT, AGENT, "personal", OWNER)
    files = list(notes(pool, Pairing(len(pool.sentences), seed), chunks))
    written = 0
    for start in range(0, len(files), _FILES_A_WRITE):
        done = await write_embedded(runtime.pipeline, place, dict(files[start : start + _FILES_A_WRITE]))
        written += sum(file.chunk_count for file in done)
    others = [
        Owner(number, AGENT if number % 2 else f"other-{number}", f"user:{number}", size)
        for number, size in enumerate(zipf_sizes(max(chunks, _OTHERS), _OTHERS), 1)
    ]
    material = material_of(pool, seed, bench.ready.model_id, bench.ready.embedder.identity.dimension)
    await fill(bench.connection, material, others, first_pair=chunks)
    settings = runtime.settings
    await vectors.promote_large_slices(
        runtime.database, exact_max_chunks=settings.exact_max_chunks, max_partitions=settings.max_partitions
    )
    await settle(bench.connection)
    return written
