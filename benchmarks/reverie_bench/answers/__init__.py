"""Messages that somebody sends weeks after they told of their life, and the lines of it that are needed for them.

The lives are those of `reverie_bench.tagged`. The messages were written by hand, for this project, by people who knew
none of its rules; each line of a file is `needed [< ended] | message`, with the numbers of lines from 1: what is needed
as things stand, and what would have been before. `*_indirect.txt` share no word with what they need, most of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from reverie_bench.tagged import TaggedLife, tagged_lives

_FOLDER = Path(__file__).with_name("messages")
_LINE = re.compile(r"([\d ]+?)(?: < ([\d ]+?))? \| (.+)")


@dataclass(frozen=True, slots=True)
class Message:
    """A message about a life, and the places, from 0, of the lines that it needs or would have needed before."""

    text: str
    life: TaggedLife
    needed: tuple[int, ...]
    ended: tuple[int, ...]
    is_indirect: bool

    @property
    def relevant(self) -> tuple[int, ...]:
        """The lines that are about what the message needs, whether they hold or not."""
        return (*self.needed, *self.ended)


def messages() -> list[Message]:
    """All messages, file by file. ValueError for a line that is none, or for a life or a place that there is not."""
    lives = {life.name: life for life in tagged_lives()}
    found: list[Message] = []
    for file in sorted(_FOLDER.glob("*.txt")):
        for part in file.read_text(encoding="utf-8").split("== ")[1:]:
            name, *rows = part.strip().splitlines()
            if name not in lives:
                raise ValueError(f"{file.name}: no life {name}")
            found += [_message(row, lives[name], is_indirect=file.stem.endswith("indirect")) for row in rows]
    return found


def _message(row: str, life: TaggedLife, *, is_indirect: bool) -> Message:
    match = _LINE.fullmatch(row)
    if match is None:
        raise ValueError(f"no message of {life.name}: {row}")
    needed, ended = (tuple(int(number) - 1 for number in (part or "").split()) for part in match.groups()[:2])
    if not all(0 <= place < len(life.lines) for place in (*needed, *ended)) or set(needed) & set(ended):
        raise ValueError(f"no lines of {life.name}: {row}")
    return Message(match[3], life, needed, ended, is_indirect)
