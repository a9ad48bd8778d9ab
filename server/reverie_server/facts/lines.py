"""The statements of facts in the lines of files: found, replaced, taken out. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from reverie_indexer.errors import ValidationFailed
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import Targets, essence

MAX_TEXT_CHARS = 1000
_LEAD = re.compile(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?")
_FULL_STOPS = ".!?。！？ "
_ENDING = re.compile(r"\r?\n?\Z")


@dataclass(frozen=True, slots=True)
class Located:
    """A line of a text: its index, and the statement within it as a span of the line."""

    index: int
    start: int
    end: int


def check_statement(text: str) -> str:
    """A text that may be the words of a fact: one line; ValidationFailed for an empty or too long one."""
    plain = " ".join(text.split())
    if not essence(plain):
        raise ValidationFailed("the text of a fact has words")
    if len(plain) > MAX_TEXT_CHARS:
        raise ValidationFailed(f"the text of a fact has at most {MAX_TEXT_CHARS} characters")
    return _LEAD.sub("", plain, count=1)


def statements_in(text: str, keys: Collection[bytes]) -> list[str]:
    """The sentences of a text that have one of the keys, each once, in order."""
    return list(dict.fromkeys(text[span.start : span.end] for span in keyed_sentences(text) if span.key in keys))


def clause_in(sentence: str, statement: str) -> str | None:
    """The clause of a sentence that says a statement, with the word that joins it; None where it cannot go alone.

    Behind a comma alone the sentence may go on ("I moved to Bergen, Norway").
    """
    found = Targets([statement.rstrip(_FULL_STOPS)]).stretches_in(sentence)
    is_part = len(found) == 1 and essence(found[0]) not in (essence(sentence), essence(statement))
    return found[0] if is_part else None


def locate(text: str, sha256: bytes, keys: Collection[bytes]) -> Located | None:
    """The line of a hash in a text, with the statement in it: where none has a key, all of it but the bullet."""
    for index, line in enumerate(lines_of(text)):
        body = _ENDING.sub("", line)
        if line_sha256(body) != sha256:
            continue
        for span in keyed_sentences(body):
            if span.key in keys:
                return Located(index, span.start, span.end)
        lead = _LEAD.match(body)
        return Located(index, lead.end() if lead else 0, len(body))
    return None


def with_statement(text: str, located: Located, statement: str) -> str:
    """The text with another statement in that place."""
    lines = lines_of(text)
    line = lines[located.index]
    lines[located.index] = line[: located.start] + statement + line[located.end :]
    return "".join(lines)


def without_statement(text: str, located: Located) -> str:
    """The text without the statement, and without its line where nothing else is in it."""
    lines = lines_of(text)
    line = lines[located.index]
    rest = f"{line[: located.start].rstrip(' ')} {line[located.end :].lstrip(' ')}"
    if essence(rest):
        lines[located.index] = rest
    else:
        del lines[located.index]
    return "".join(lines)


def statement_of(text: str, sha256: bytes, keys: Collection[bytes]) -> str | None:
    """The statement in the line of a hash; None where there is no such line."""
    located = locate(text, sha256, keys)
    return None if located is None else lines_of(text)[located.index][located.start : located.end]


def line_with(text: str, statement: str) -> tuple[int, str]:
    """The first line that holds a statement, with its number from 1; (1, statement) where none does."""
    for number, line in enumerate(lines_of(text), 1):
        if statement in line:
            return number, _ENDING.sub("", line)
    return 1, statement
