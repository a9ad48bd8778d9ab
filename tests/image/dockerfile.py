"""What a Dockerfile and a .dockerignore say. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True)
class Instruction:
    """Its name in capitals, its flags without their dashes, and the rest as it stands."""

    name: str
    flags: dict[str, str]
    rest: str


@dataclass(frozen=True)
class Stage:
    """What follows a FROM: the image that it names, and its own name, or ""."""

    base: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)


def stages(text: str) -> list[Stage]:
    """The stages in order; ValueError for an instruction before the first."""
    found: list[Stage] = []
    whole = re.sub(r"^\s*#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    for line in filter(str.strip, whole.splitlines()):
        name, *words = line.split()
        flags = {}
        while name != "FROM" and words and words[0].startswith("--"):
            flag, _, value = words.pop(0).removeprefix("--").partition("=")
            flags[flag] = value
        if name == "FROM":
            base, *named = words
            found.append(Stage(base, named[1] if named else ""))
        elif found:
            rest = line.split(maxsplit=1 + len(flags))[-1]
            found[-1].instructions.append(Instruction(name.upper(), flags, rest.strip()))
        else:
            raise ValueError(f"{name} stands before FROM")
    return found


class Ignored:
    """What a .dockerignore leaves out: the last pattern that fits a path, or a directory above it, decides."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        self._rules = [(_pattern(line.removeprefix("!")), not line.startswith("!")) for line in lines]

    def __contains__(self, path: PurePosixPath) -> bool:
        tried = [str(path), *(str(parent) for parent in path.parents)]
        fitting = [ignores for pattern, ignores in self._rules if any(map(pattern.fullmatch, tried))]
        return bool(fitting) and fitting[-1]


def _pattern(glob: str) -> re.Pattern[str]:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    words = re.split(r"(\*\*/|\*\*|\*|\?)", glob.strip("/"))
    return re.compile("".join(parts.get(word, re.escape(word)) for word in words))
