"""Cuts files into passages. What an edit of a long file left as it was is neither read nor analysed again."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from reverie_indexer.index.document_index import KNOWS_NOTHING, KnownPassages
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Document, Passage
from reverie_indexer.text.blocks import NOTHING_KEPT, Block, kept_after_edit
from reverie_indexer.text.passages import Rules, cut_file, passages_of

# A shorter file is cut in less than it takes to look for what is known of it.
REUSED_FROM_CHARS = 16_384
# Of the files that were written last: some 150 bytes each, 10 MB in all.
MAX_REMEMBERED_BLOCKS = 65_536
# Each heading that is kept is read by itself.
MAX_HEADINGS = 2_000


@dataclass(frozen=True, slots=True)
class Base:
    """A file as a write found it: deleted or not, its text, and what the index has of it."""

    document: Document
    text: str
    known: KnownPassages = KNOWS_NOTHING


class FileCutter:
    """Remembers where the blocks of long files are, by the hash of the text, and nothing of their words."""

    def __init__(self) -> None:
        self._blocks: OrderedDict[bytes, Sequence[Block]] = OrderedDict()
        self._count = 0

    async def cut(self, path: str, text: str, rules: Rules, base: Base | None) -> Sequence[Passage]:
        """The passages of a file's new text; those that the index has of its `base` are not analysed.

        Raises TextTooCostly and Overloaded as `isolated` does.
        """
        if len(text) < REUSED_FROM_CHARS:
            return await isolated(passages_of, path, text, rules, chars=len(text))
        kept, known = NOTHING_KEPT, base.known.counts if base else {}
        if base is not None and (blocks := self._blocks.get(base.document.sha256)):
            kept = await asyncio.to_thread(kept_after_edit, text, base.text, blocks)
        chars_read = len(text) - kept.end if known else len(text)
        cut = await isolated(cut_file, path, text, rules, known, kept, chars=chars_read)
        self._remember(hashlib.sha256(text.encode()).digest(), cut.blocks)
        return cut.passages

    def _remember(self, sha256: bytes, blocks: Sequence[Block]) -> None:
        self._count -= len(self._blocks.pop(sha256, ()))
        headings = sum(block.kind == "heading" for block in blocks)
        if 0 < len(blocks) <= MAX_REMEMBERED_BLOCKS and headings <= MAX_HEADINGS:
            self._blocks[sha256] = blocks
            self._count += len(blocks)
        while self._count > MAX_REMEMBERED_BLOCKS:
            self._count -= len(self._blocks.popitem(last=False)[1])
