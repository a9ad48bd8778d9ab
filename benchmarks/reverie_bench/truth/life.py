"""A scripted life: its sessions with tagged statements, and the questions about it. Pure, but for reading the files.

A life is a TOML file. A session's `talk` has one message a paragraph, `user: …` or `assistant: …`; a statement that
matters is written `{tag|statement}`, and the braces are not part of what is said:

- `worth`: a stranger could use it in a month, and it holds at the end; `old`: it held once;
- `true`: not worth keeping, but not superseded either, though it names what is past;
- `remember`: asked to be remembered; `kin:Name`: of somebody else, worth keeping with one of the names (`/` between);
- `other:Name`: somebody else's life, not worth keeping; `forget`: asked to be forgotten.

All other sentences are filler.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, cast, get_args

from reverie_indexer.errors import ValidationFailed

Tag = Literal["worth", "true", "old", "remember", "kin", "other", "forget", "filler"]
LIVES = Path(__file__).parent / "lives"
_MARKED = re.compile(r"\{(?P<tag>[a-z]+)(?::(?P<names>[^|{}]+))?\|(?P<text>[^{}]+)\}")
_MESSAGE = re.compile(r"^(?P<role>user|assistant): (?P<text>.+?)(?=^(?:user|assistant): |\Z)", re.DOTALL | re.MULTILINE)
# The point of an ordinal or of a title ends no sentence: "am 22. November", "Dr. Lenz".
_SENTENCE_END = re.compile(r"(?<=[.!?…])(?<!\b\d\.)(?<!\b\d\d\.)(?<!\bDr\.)\s+|(?<=[。！？])\s*|\n+")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a life with its tag; `names` are those that a line about somebody else has to have one of."""

    text: str
    tag: Tag
    names: tuple[str, ...] = ()
    by_user: bool = True


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it is sent, and its statements."""

    role: Literal["user", "assistant"]
    text: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation that is sent at `sent_at`. `said_at` is earlier for talk that is imported."""

    sent_at: datetime
    said_at: datetime
    messages: tuple[Message, ...]

    @property
    def is_imported(self) -> bool:
        """Whether the conversation took place elsewhere, long ago."""
        return self.said_at < self.sent_at


@dataclass(frozen=True, slots=True)
class Question:
    """A question: the answers that hold (any of them), the superseded ones, and whether it asks about the past.

    `kind` is what it asks about: home, work, boss, plan, taste, secret, and so on.
    """

    text: str
    current: tuple[str, ...]
    old: tuple[str, ...] = ()
    about_past: bool = False
    kind: str = "other"


@dataclass(frozen=True, slots=True)
class Life:
    """A life of one person with one agent."""

    name: str
    language: str
    held: bool
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    profile: Mapping[str, tuple[str, ...]]
    remembered: tuple[tuple[str, ...], ...]
    forgotten: tuple[str, ...]

    def statements(self) -> Iterator[Statement]:
        """All sentences of the life, in their order."""
        for session in self.sessions:
            for message in session.messages:
                yield from message.statements

    @property
    def end(self) -> datetime:
        """The morning after the last session."""
        last = max(session.sent_at for session in self.sessions)
        return (last + timedelta(days=1)).replace(hour=10, minute=0)


def load_lives(*, held: bool = False, name: str | None = None) -> list[Life]:
    """The lives of development, or those that are held back; of `name` only. ValidationFailed where there are none."""
    paths = sorted((LIVES / ("held" if held else "dev")).glob("*.toml"))
    lives = [read_life(path, held=held) for path in paths if name in (None, path.stem)]
    if not lives:
        raise ValidationFailed("there is no such life")
    return lives


def read_life(path: Path, *, held: bool) -> Life:
    """The life of a file. ValidationFailed for tags that do not exist and days that go back."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    first: date = content["first_day"]
    sessions = tuple(_session(entry, first) for entry in content["session"])
    if any(a.sent_at >= b.sent_at for a, b in pairwise(sessions)):
        raise ValidationFailed(f"{path.name}: sessions go back in time")
    return Life(
        name=path.stem,
        language=content["language"],
        held=held,
        sessions=sessions,
        questions=tuple(
            Question(
                text=each["ask"],
                current=tuple(each["current"]),
                old=tuple(each.get("old", ())),
                about_past=each.get("past", False),
                kind=each.get("kind", "other"),
            )
            for each in content["question"]
        ),
        profile={key: tuple(values) for key, values in content["profile"].items()},
        remembered=tuple(tuple(words) for words in content.get("remembered", ())),
        forgotten=tuple(content.get("forgotten", ())),
    )


def _session(entry: Mapping[str, Any], first: date) -> Session:
    hour, minute = divmod(entry.get("at", 900), 100)
    sent = datetime(first.year, first.month, first.day, hour, minute, tzinfo=UTC) + timedelta(days=entry["day"])
    said: date | None = entry.get("said_on")
    said_at = sent if said is None else datetime(said.year, said.month, said.day, hour, minute, tzinfo=UTC)
    messages = tuple(_message(match) for match in _MESSAGE.finditer(entry["talk"].strip() + "\n"))
    return Session(sent, said_at, messages)


def _message(match: re.Match[str]) -> Message:
    role: Literal["user", "assistant"] = "user" if match["role"] == "user" else "assistant"
    text = " ".join(match["text"].split())
    plain = _MARKED.sub(lambda marked: marked["text"], text)
    if "{" in plain or "}" in plain:
        raise ValidationFailed(f"a mark that is not closed: {plain[:80]}")
    return Message(role, plain, tuple(_statements(text, by_user=role == "user")))


def _statements(text: str, *, by_user: bool) -> Iterator[Statement]:
    start = 0
    for marked in _MARKED.finditer(text):
        yield from _filler(text[start : marked.start()], by_user=by_user)
        if marked["tag"] not in get_args(Tag):
            raise ValidationFailed(f"an unknown tag: {marked['tag']}")
        tag = cast(Tag, marked["tag"])
        yield Statement(
            marked["text"], tag, tuple((marked["names"] or "").split("/")) if marked["names"] else (), by_user
        )
        start = marked.end()
    yield from _filler(text[start:], by_user=by_user)


def _filler(text: str, *, by_user: bool) -> Iterator[Statement]:
    for sentence in sentences(text):
        yield Statement(sentence, "filler", (), by_user)


def sentences(text: str) -> Sequence[str]:
    """The sentences of a text, without those that have no word."""
    return [part.strip() for part in _SENTENCE_END.split(text) if re.search(r"\w", part)]
