"""The questions of conversations, to the memory that knows the answer and to one that cannot. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from reverie_bench.data import Collection

Crossing = Literal["own", "elsewhere", "swapped"]
"""A question to its own conversation, to the next one, and to that one with its people's names put into it."""


@dataclass(frozen=True, slots=True)
class CrossedQuestion:
    """A question of the conversation number `asker` to the memory of conversation `memory`.

    `relevant` are indices into the units of that memory, none where it cannot know.
    """

    crossing: Crossing
    asker: int
    memory: int
    text: str
    relevant: frozenset[int] = frozenset()


def crossed_questions(collections: Sequence[Collection]) -> Iterator[CrossedQuestion]:
    """Every question in every crossing; of a single conversation only to its own memory."""
    for asker, collection in enumerate(collections):
        following = (asker + 1) % len(collections)
        swap = name_swapper(collection, collections[following])
        for question in collection.questions:
            yield CrossedQuestion("own", asker, asker, question.text, question.relevant)
            if following != asker:
                yield CrossedQuestion("elsewhere", asker, following, question.text)
                yield CrossedQuestion("swapped", asker, following, swap(question.text))


def name_swapper(from_: Collection, to: Collection) -> Callable[[str], str]:
    """Puts the speakers of one conversation in the place of another's, first for first, as whole words, all at once."""
    names = dict(zip(_speakers(from_), _speakers(to), strict=False))
    if not names:
        return lambda text: text
    pattern = re.compile(rf"\b(?:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})\b")
    return lambda text: pattern.sub(lambda match: names[match[0]], text)


def _speakers(collection: Collection) -> list[str]:
    """The speakers, in the order of their first words; a unit of a conversation is `Speaker: text`."""
    return list(dict.fromkeys(unit.text.partition(":")[0] for unit in collection.units))
