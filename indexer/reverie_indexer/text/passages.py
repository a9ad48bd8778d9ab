"""How a text becomes passages: chunks with their context and terms. Pure."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType
from typing import Any

from reverie_indexer import file_rules
from reverie_indexer.model import Chunk, Passage, embedded_text
from reverie_indexer.text.analyse import analyse, spoken_date, without_ignored
from reverie_indexer.text.blocks import NOTHING_KEPT, Block, Kept, blocks_of, without_titles
from reverie_indexer.text.chunk import chunk, context_line, note_date

# A message of more passages is packed, if they are short (see `chunk`): a call brings up to 500 messages.
MAX_SPARSE_CHUNKS = 200
# A longer name of a speaker is cut.
MAX_SPEAKER_CHARS = 80


@dataclass(frozen=True, slots=True)
class Rules:
    """How text becomes passages, and how long a write may wait for vectors."""

    chunk_max_chars: int = 1000
    language: str = "english"
    max_file_bytes: int = 1_048_576
    embed_wait_seconds: float = 10.0
    batch_size: int = 64

    def of_agent(self, settings: Mapping[str, Any]) -> Rules:
        """These rules with those on top that the agent sets itself."""
        changes = {name: settings[name] for name in ("chunk_max_chars", "language") if name in settings}
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class Cut:
    """A file's passages, in order, and where its blocks are, by which its next text is cut (`kept_after_edit`)."""

    passages: Sequence[Passage]
    blocks: Sequence[Block]


NOTHING: Cut = Cut((), ())


def passages_of(path: str, text: str, rules: Rules) -> Sequence[Passage]:
    """The passages of a file's text, in order; none for a file that is stored but not searched, nor for a seed that
    nobody has edited: an empty memory finds nothing. Pure.

    A daily note's date is a matter of words: questions name it in one form or another, so the passages' terms
    have them all. In the vectors it would only make the passages of a day alike (docs/measurements.md).
    """
    return cut_file(path, text, rules).passages


def cut_file(
    path: str, text: str, rules: Rules, known: Mapping[bytes, int] = MappingProxyType({}), kept: Kept = NOTHING_KEPT
) -> Cut:
    """As `passages_of`, for a file that was there before. Pure.

    `known` are the passages that the index has of the file, by hash, with how often: so many of each are not analysed
    again. What is `kept` of the blocks is not read again.
    """
    if not file_rules.is_searchable(path) or file_rules.is_unedited_seed(path, text):
        return NOTHING
    day = note_date(path)
    dated = spoken_date(day, rules.language) if day else ""
    blocks = blocks_of(text, kept)
    left = dict(known)
    passages: list[Passage] = []
    for piece in chunk(text, max_chars=rules.chunk_max_chars, blocks=blocks):
        context = context_line(path, piece)
        sha256 = _hash_of(rules.language, dated, embedded_text(context, piece.text))
        if left.get(sha256, 0) > 0:
            left[sha256] -= 1
            passages.append(Passage(piece, context, sha256, {}, 0, is_analysed=False))
        else:
            passages.append(passage_of(piece, context, dated, rules.language))
    return Cut(passages, without_titles(blocks))


def passage_of(piece: Chunk, context: str, dated: str, language: str) -> Passage:
    """A chunk with what is embedded of it and its terms, among them those of its date in words. Pure."""
    embedded = embedded_text(context, piece.text)
    terms = Counter(analyse(f"{dated}\n{embedded}", language))
    return Passage(piece, context, _hash_of(language, dated, embedded), terms, terms.total())


def _hash_of(language: str, dated: str, embedded: str) -> bytes:
    # A passage with characters that are ignored has another hash than it had when they divided words: its terms are
    # others, and whoever indexes it anew gets them.
    analysed = without_ignored(embedded)
    parts = (language, dated, embedded) if analysed == embedded else (language, dated, embedded, analysed)
    return hashlib.sha256("\0".join(parts).encode()).digest()


def passages_of_message(content: str, day: date, rules: Rules, speaker: str = "") -> list[Passage]:
    """The passages of a message's text, in order, not yet numbered. Pure.

    The day it was said on is a matter of words, as it is of a daily note: among the terms, and not embedded. The name
    of the `speaker` is in words and vector (`Ada: …`), so that a question about what Ada said finds it; the text stays
    as it was said.
    """
    dated = spoken_date(day, rules.language)
    label = speaker_label(speaker, content)
    pieces = chunk(content, max_chars=rules.chunk_max_chars, max_chunks=MAX_SPARSE_CHUNKS)
    return [passage_of(piece, f"{label} {context_line('', piece)}".strip(), dated, rules.language) for piece in pieces]


def speaker_label(speaker: str, content: str) -> str:
    """`Ada:` for a speaker of that name, on one line; "" without a name, and where the text begins with it already."""
    name = " ".join(speaker.split())[:MAX_SPEAKER_CHARS].strip(" :")
    return "" if not name or content.lstrip().startswith(f"{name}:") else f"{name}:"
