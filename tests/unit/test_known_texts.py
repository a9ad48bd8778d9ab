"""What was found in texts is remembered, without them and within a bound."""

from __future__ import annotations

from reverie_server.heuristics.known_texts import KnownTexts


class Words:
    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, text: str) -> list[str]:
        self.read.append(text)
        return [str(len(word)) for word in text.split()]


def test_a_text_is_read_once_as_long_as_it_is_remembered() -> None:
    words = Words()
    known = KnownTexts(words, size=8, max_chars=20)
    assert known.of("one two") == known.of("one two") == ["3", "3"]
    assert words.read == ["one two"]
    known.of("a b c")
    known.of("one two")
    # Each takes one more than its finds: the two fit no more beside this one, and the least recent goes.
    known.of("x")
    assert words.read == ["one two", "a b c", "x"]
    known.of("one two")
    known.of("a b c")
    assert words.read == ["one two", "a b c", "x", "a b c"]


def test_a_long_text_is_read_anew_and_none_is_kept() -> None:
    words = Words()
    known = KnownTexts(words, size=8, max_chars=5)
    known.of("longer text")
    known.of("longer text")
    assert len(words.read) == 2
    known.of("short")
    assert "short" not in repr(known.__dict__["_known"])
