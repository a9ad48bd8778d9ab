"""Whether a text asks something, by its last mark. Pure."""

from __future__ import annotations

_MARKS = ("?", "？")
_BEHIND = " \n\"'”"


def is_question(text: str) -> bool:
    """Whether a text ends in a question mark, or in a quote that does."""
    return text.rstrip(_BEHIND).endswith(_MARKS)
