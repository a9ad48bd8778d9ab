"""A file cut with what is known of it before an edit comes to the passages of the file cut as a whole."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.test_blocks_after_edit import edited, edits, long_sources

from reverie_indexer import cutting, model
from reverie_indexer.cutting import Base, FileCutter
from reverie_indexer.index.document_index import KnownPassages
from reverie_indexer.text.blocks import kept_after_edit
from reverie_indexer.text.passages import Rules, cut_file, passages_of

paths = st.sampled_from(["memory/2026-04-03.md", "MEMORY.md", "notes/a.md"])
rules = st.builds(Rules, st.sampled_from([60, 300, 1000]), st.sampled_from(["english", "german"]))


@settings(max_examples=300)
@given(paths, rules, long_sources, st.lists(edits, min_size=1, max_size=3))
def test_what_is_known_is_left_out_and_the_rest_is_the_same(
    path: str, rules: Rules, text: str, changes: list[tuple[float, int, str]]
) -> None:
    # No file has them.
    text = text.replace("\ud800", "")
    cut = cut_file(path, text, rules)
    for change in changes:
        before, text = text, edited(text, change).replace("\ud800", "")
        whole = passages_of(path, text, rules)
        known = Counter(passage.sha256 for passage in passages_of(path, before, rules))
        cut = cut_file(path, text, rules, known, kept_after_edit(text, before, cut.blocks))
        assert [replace(passage, terms={}, term_count=0, is_analysed=True) for passage in cut.passages] == [
            replace(passage, terms={}, term_count=0) for passage in whole
        ]
        new = Counter(passage.sha256 for passage in whole) - known
        assert Counter(passage.sha256 for passage in cut.passages if passage.is_analysed) == new
        for passage, same in zip(cut.passages, whole, strict=True):
            if passage.is_analysed:
                assert (passage.terms, passage.term_count) == (same.terms, same.term_count)


def document(sha256: bytes) -> model.Document:
    at = None
    return model.Document(1, 1, "a.md", "team", None, False, 0, 1, 0, sha256, at, at, at)  # type: ignore[arg-type]


@pytest.mark.parametrize("is_known", [False, True])
async def test_the_blocks_of_the_texts_cut_last_are_remembered(monkeypatch: pytest.MonkeyPatch, is_known: bool) -> None:
    monkeypatch.setattr(cutting, "MAX_REMEMBERED_BLOCKS", 1500)
    cutter = FileCutter()
    texts = [f"# Note {number}\n\n" + "Words of a paragraph.\n\n" * 1000 for number in range(3)]
    for text in texts:
        assert len(text) > cutting.REUSED_FROM_CHARS
        await cutter.cut("a.md", text, Rules(), None)
    # There is room for one.
    assert list(cutter._blocks) == [hashlib.sha256(texts[-1].encode()).digest()]
    known = KnownPassages(Counter(p.sha256 for p in passages_of("a.md", texts[-1], Rules())) if is_known else {}, ())
    base = Base(document(hashlib.sha256(texts[-1].encode()).digest()), texts[-1], known)
    later = texts[-1] + "One more.\n"
    found = await cutter.cut("a.md", later, Rules(), base)
    assert [passage.sha256 for passage in found] == [p.sha256 for p in passages_of("a.md", later, Rules())]
    assert [p.chunk.text for p in found if p.is_analysed][-1:] == ["One more."]
    assert all(p.is_analysed for p in found) is not is_known
