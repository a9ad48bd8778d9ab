"""Lines of the diary that earlier releases cut in the middle of a statement: the beginnings that they have of texts
which go. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reverie_server.text.redact import Folded, beginnings, is_distinctive

_CUT = "…"
# A line was cut at 200 characters, behind a label or within a heading.
_MAX_CHARS = 300
_LABEL_CHARS, _LABEL_END = 60, ": "
# No shorter text says enough to be recognised by its beginning.
_FEWEST_CHARS = 5


def cut_beginnings(lines: Iterable[str], texts: Sequence[str]) -> list[str]:
    """What cut lines have of texts that go on behind the cut, each with its ellipsis: a whole line behind its label
    that is part of a text, or the beginning of a text at the end of a line, where it says enough to be one."""
    folded = [text for text in dict.fromkeys(Folded.of(text).text for text in texts) if len(text) > _FEWEST_CHARS]
    by_beginning: dict[str, list[str]] = {}
    for text in folded:
        by_beginning.setdefault(text[:_FEWEST_CHARS], []).append(text)
    found: dict[str, None] = {}
    for line in lines:
        shown = line.rpartition(_CUT)[0].rstrip()
        if not shown or len(shown) > _MAX_CHARS:
            continue
        cut = Folded.of(shown)
        start = next(_starts(cut.text, folded, by_beginning), None)
        if start is not None:
            found |= dict.fromkeys(f"{part}{_CUT}" for part in cut.sources_of([(start, len(cut.text))]))
    return list(found)


def _starts(cut: str, texts: Sequence[str], by_beginning: dict[str, list[str]]) -> Iterator[int]:
    """Where in a folded line what it has of the texts may begin, the longest part first."""
    label = cut.find(_LABEL_END, 0, _LABEL_CHARS)
    first = label + len(_LABEL_END) if label >= 0 else 0
    if is_distinctive(cut[first:]) and any(cut[first:] in text for text in texts):
        yield first
    for start in beginnings(cut):
        if not is_distinctive(cut[start:]):
            return
        of_same = by_beginning.get(cut[start : start + _FEWEST_CHARS], ())
        if any(text.startswith(cut[start:]) for text in of_same):
            yield start
