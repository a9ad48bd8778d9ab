"""Reads LoCoMo and XQuAD into notes, the units to be found in them, and questions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from reverie_indexer.errors import ValidationFailed

Kind = Literal["conversations", "paragraphs"]

_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_SESSION = re.compile(r"session_(\d+)")
# `D8:6`; also `D:8:6`, a slip of the data set that can mean nothing else.
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A text to be found: a turn or a paragraph. Lines are 1-based and inclusive, in the note at `path`."""

    path: str
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """`relevant` are indices into the units of the collection, at least one."""

    text: str
    relevant: frozenset[int]
    category: str | None


@dataclass(frozen=True, slots=True)
class Collection:
    """One agent's memory and the questions to it. `notes` maps path to text; units are oldest first."""

    notes: Mapping[str, str]
    units: Sequence[Unit]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A data set as memory.

    `dropped` counts questions whose evidence points nowhere, `left_out` those without an answer in the text
    (LoCoMo's adversarial ones), which are no matter of recall.
    """

    kind: Kind
    collections: Sequence[Collection]
    dropped: int
    left_out: int

    @property
    def questions(self) -> list[Question]:
        """The questions of all collections, in order."""
        return [question for collection in self.collections for question in collection.questions]


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """A turn of a conversation, without its speaker's name in the text."""

    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SpokenCollection:
    """A conversation as it was spoken: its sessions by id, oldest first, and the questions to it.

    `user` is one of the two speakers. `relevant` of a question are indices into the turns of all sessions, in order.
    """

    user: str
    sessions: Mapping[str, Sequence[SpokenTurn]]
    questions: Sequence[Question]


def load(path: Path) -> Corpus:
    """Read a data file; the format is told by its shape. ValidationFailed when it is neither."""
    raw = _read(path)
    if _is_conversations(raw):
        return conversations(raw)
    if isinstance(raw, dict) and isinstance(raw.get("data"), list):
        return paragraphs(raw)
    raise ValidationFailed(f"{path.name} is neither LoCoMo (a list of conversations) nor XQuAD ({{data: …}})")


def spoken_conversations(path: Path) -> list[SpokenCollection]:
    """Read LoCoMo conversations as they were spoken. ValidationFailed for another file.

    Turns, questions and evidence are those of `conversations`; a turn comes a minute after the one before.
    """
    raw = _read(path)
    if not _is_conversations(raw):
        raise ValidationFailed(f"{path.name} is not LoCoMo (a list of conversations)")
    collections = []
    for item, collection in zip(raw, conversations(raw).collections, strict=True):
        sessions = _spoken_sessions(item["conversation"])
        first = next(turn.speaker for turns in sessions.values() for turn in turns)
        collections.append(
            SpokenCollection(item["conversation"].get("speaker_a", first), sessions, collection.questions)
        )
    return collections


def _spoken_sessions(conversation: Mapping[str, Any]) -> dict[str, list[SpokenTurn]]:
    return {
        f"bench:{name}": [
            SpokenTurn(turn["speaker"], _spoken_text(turn), began.replace(tzinfo=UTC) + timedelta(minutes=number))
            for number, turn in enumerate(conversation[name])
        ]
        for began, name in _sessions(conversation)
    }


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        raise ValidationFailed(f"there is no file {path}") from None
    except ValueError:
        raise ValidationFailed(f"{path.name} is not JSON") from None


def _is_conversations(raw: Any) -> bool:
    return isinstance(raw, list) and bool(raw) and all(isinstance(c, dict) and "conversation" in c for c in raw)


def conversations(raw: Sequence[Mapping[str, Any]]) -> Corpus:
    """LoCoMo: a conversation is a collection, a day's sessions are a note, a turn is a unit on its own line."""
    collections = []
    dropped = left_out = 0
    for item in raw:
        notes, units, places = _daily_notes(item["conversation"])
        questions = []
        for qa in item["qa"]:
            if qa["category"] not in _CATEGORIES:
                left_out += 1
                continue
            named = _EVIDENCE.findall(" ".join(qa.get("evidence", ())))
            relevant = frozenset(
                places[int(session), int(turn)] for session, turn in named if (int(session), int(turn)) in places
            )
            if relevant:
                category = f"{qa['category']} {_CATEGORIES[qa['category']]}"
                questions.append(Question(str(qa["question"]), relevant, category))
            else:
                dropped += 1
        collections.append(Collection(notes, units, questions))
    return Corpus("conversations", collections, dropped, left_out)


def _daily_notes(
    conversation: Mapping[str, Any],
) -> tuple[dict[str, str], list[Unit], dict[tuple[int, int], int]]:
    """Notes by path, the turns in time order, and where among them the turn `D<session>:<turn>` is.

    Sessions of one day share the note of that day, under its one heading, as a real daily note would.
    """
    lines: dict[str, list[str]] = {}
    units: list[Unit] = []
    places: dict[tuple[int, int], int] = {}
    for began, name in _sessions(conversation):
        day = f"{began:%Y-%m-%d}"
        path = f"memory/{day}.md"
        note = lines.setdefault(path, [f"# {day}"])
        for turn in conversation[name]:
            note += ["", _paragraph(turn)]
            named = _EVIDENCE.fullmatch(turn["dia_id"])
            if named:
                places[int(named[1]), int(named[2])] = len(units)
            units.append(Unit(path, len(note), len(note), note[-1]))
    return {path: "\n".join(note) + "\n" for path, note in lines.items()}, units, places


def _sessions(conversation: Mapping[str, Any]) -> list[tuple[datetime, str]]:
    """When each session with turns began, and its name, oldest first."""
    names = [name for name, turns in conversation.items() if _SESSION.fullmatch(name) and turns]
    return sorted((_moment(conversation[f"{name}_date_time"]), name) for name in names)


def _moment(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y")


def _paragraph(turn: Mapping[str, Any]) -> str:
    return f"{turn['speaker']}: {_spoken_text(turn)}"


def _spoken_text(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    text = f"{turn['text']}" + (f" [shares {caption}]" if caption else "")
    # On one line, so that nothing in it reads as markdown's structure.
    return " ".join(text.split())


def paragraphs(raw: Mapping[str, Any]) -> Corpus:
    """XQuAD: one collection, a paragraph is a note and a unit."""
    notes: dict[str, str] = {}
    units: list[Unit] = []
    questions: list[Question] = []
    for paragraph in (p for article in raw["data"] for p in article["paragraphs"]):
        path, text = f"notes/{len(units):03d}.md", str(paragraph["context"])
        questions += [Question(str(qa["question"]), frozenset({len(units)}), None) for qa in paragraph["qas"]]
        notes[path] = text
        units.append(Unit(path, 1, 1 + text.count("\n"), text))
    return Corpus("paragraphs", [Collection(notes, units, questions)], dropped=0, left_out=0)
