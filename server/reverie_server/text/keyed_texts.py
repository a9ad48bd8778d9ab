"""Texts known by keyed hashes alone, found again in other texts. Pure.

A text is known by the length of its folded form, a hash of that, and two bytes of a hash of its first characters, which
say where a look is worth its cost. A hash function is a secret of whoever calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reverie_server.text.redact import Folded, beginnings, sought

# Makes the keyed hash of a text.
Keyed = Callable[[str], bytes]
_DIGEST_BYTES = 16
_ANCHOR_BYTES = 2
_ANCHOR_CHARS = 8
# The beginnings of texts repeat: their hashes are kept, as many as take some megabytes.
_MAX_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class KeyedText:
    """A text that nobody can read from this. A sentence is sought without its full stop, `length` characters folded."""

    length: int
    anchor: bytes
    digest: bytes
    is_sentence: bool


def keyed_text(text: str, keyed: Keyed) -> KeyedText | None:
    """The key of a text; None where folding leaves nothing of it."""
    bare, is_sentence = sought(text)
    folded = Folded.of(bare).text
    if not folded:
        return None
    anchor = keyed(folded[:_ANCHOR_CHARS])[:_ANCHOR_BYTES]
    return KeyedText(len(folded), anchor, keyed(folded)[:_DIGEST_BYTES], is_sentence)


class KeyedTexts:
    """Some such texts, which are sought together."""

    def __init__(self, texts: Iterable[KeyedText], keyed: Keyed) -> None:
        self._keyed = keyed
        self._kept: dict[str, dict[int, dict[bytes, bool]]] = {}
        # By the number of characters that the anchor is made of, by anchor and by length: of each hash, what it is.
        self._known: dict[int, dict[bytes, dict[int, dict[bytes, bool]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(dict))
        )
        for text in texts:
            chars = min(text.length, _ANCHOR_CHARS)
            self._known[chars][text.anchor][text.length][text.digest] = text.is_sentence

    def found_in(self, content: str) -> list[str]:
        """The texts that stand in a text, each once, as they stand there; a sentence with a full stop.

        They may begin a longer word or sentence: whoever removes them looks at that.
        """
        folded = Folded.of(content)
        spans: dict[str, tuple[int, int, bool]] = {}
        for start in beginnings(folded.text):
            for chars in self._known:
                for length, digests in self._begun(folded.text[start : start + chars], chars).items():
                    text = folded.text[start : start + length]
                    if len(text) == length and text not in spans:
                        is_sentence = digests.get(self._keyed(text)[:_DIGEST_BYTES])
                        if is_sentence is not None:
                            spans[text] = (start, start + length, is_sentence)
        sources = folded.sources_of((start, end) for start, end, _ in spans.values()) if spans else []
        return [
            f"{source}." if is_sentence else source
            for source, (_, _, is_sentence) in zip(sources, spans.values(), strict=True)
        ]

    def _begun(self, beginning: str, chars: int) -> dict[int, dict[bytes, bool]]:
        """The texts that may begin so, by length: those of `chars` characters, or of more that begin with them."""
        if len(beginning) < chars:
            return {}
        found = self._kept.get(beginning)
        if found is None:
            if len(self._kept) >= _MAX_KEPT:
                self._kept.clear()
            found = self._known[chars].get(self._keyed(beginning)[:_ANCHOR_BYTES], {})
            self._kept[beginning] = found
        return found
