"""The answers of the model of a made-up year to each prompt: honest, or with lines lost and invented. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from reverie_server.text.markdown_edit import append

Answer = Callable[[Mapping[str, str], "Honesty"], Any]
_LOST_SHARE = 1 / 3
_INVENTED = "The user owns a boat that is called Invented-{number}."
# A line of the user's in a transcript; one that is no question may be a statement.
_USER_LINE = re.compile(r"^(?:\[[^\]]*\]\s*)*(?:user|User|USER)\s*:\s*(?P<text>.+)$", re.MULTILINE)
_CANDIDATE = re.compile(r"^- \((?P<note>[^)]*)\) (?P<text>.+)$", re.MULTILINE)
_EPISODE = re.compile(r"^\[(?P<number>\d+)\][^\n]*\n(?P<text>.*?)(?=^\[\d+\]|\Z)", re.DOTALL | re.MULTILINE)
_LASTING = re.compile(r"\b(?:prefer|always|favourite|remember|live in|manager)\b")
_NOTEWORTHY = re.compile(r"\b(?:prefer|always|favourite|called|named|remember|decided|agreed|live in|manager|doctor)\b")
_NUMBERED = re.compile(r"^\[(\d+)\] \([^)]*\) User: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Relation:
    """A relation of the user's, with the pattern of the statements that express it."""

    name: str
    pattern: re.Pattern[str]
    of_type: str
    forwards: bool = True


_RELATIONS = (
    _Relation("located_in", re.compile(r"I live in (?P<x>\w+)"), "location"),
    _Relation("reports_to", re.compile(r"My manager in the \w+ department is (?P<x>\w+)"), "person"),
    _Relation("uses", re.compile(r"I always use the (?P<x>\w+) editor"), "product"),
    _Relation("collaborates_with", re.compile(r"My colleague from the \w+ team is called (?P<x>\w+)"), "person"),
)


@dataclass(frozen=True, slots=True)
class Honesty:
    """How one answer goes wrong, if it does."""

    random: Random
    loses: bool = False
    invents: bool = False

    def lines(self, lines: Sequence[str]) -> list[str]:
        """The lines as they are answered."""
        kept = [line for line in lines if not self.loses or self.random.random() >= _LOST_SHARE]
        return [*kept, _INVENTED.format(number=self.random.randrange(10_000))] if self.invents else kept


def _statements(transcript: str) -> list[str]:
    texts = (match["text"].strip() for match in _USER_LINE.finditer(transcript))
    return list(dict.fromkeys(text for text in texts if _NOTEWORTHY.search(text) and not text.endswith("?")))


def _noteworthy_lines(text: str) -> list[str]:
    lines = (line.strip().removeprefix("- ").strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if _NOTEWORTHY.search(line) and not line.endswith("?")))


def _flush(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    return {
        "lines": [line for line in honesty.lines(_statements(inputs["transcript"])) if line not in inputs["previous"]]
    }


def _summary(inputs: Mapping[str, str], honesty: Honesty) -> str:
    lines = honesty.lines([*_noteworthy_lines(inputs["previous"]), *_statements(inputs["transcript"])])
    return "\n".join(f"- {line}" for line in lines) or "- Nothing of note was said."


def _episodic(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    lines = honesty.lines([*_noteworthy_lines(inputs["previous"]), *_statements(inputs["transcript"])])
    return {"summary": "\n".join(lines) or "The user and the assistant exchanged greetings.", "key_topics": []}


def _dreaming(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    episodes: dict[str, list[int]] = {}
    for episode in _EPISODE.finditer(inputs["episodes"]):
        for line in _noteworthy_lines(episode["text"]):
            episodes.setdefault(line, []).append(int(episode["number"]))
    lines = honesty.lines(list(episodes))[:40]
    return {"lines": [{"kind": "preference", "text": line, "episodes": episodes.get(line, [1])} for line in lines]}


def _emergence(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    found = [match["text"] for match in _CANDIDATE.finditer(inputs["candidates"])]
    memory = inputs["memory"]
    kept = memory.splitlines()
    if honesty.loses:
        kept = [line for line in kept if not line.startswith("- ") or honesty.random.random() >= _LOST_SHARE]
    new = [line for line in Honesty(honesty.random, invents=honesty.invents).lines(found) if line not in memory]
    if not new and not honesty.loses:
        return {"should_update": False, "reason": "all of it is there", "memory_content": ""}
    text = "\n".join(kept) or "# Long-term Memory\n\n## Notes\n"
    content = append(text, "\n".join(f"- {line}" for line in new), "MEMORY.md") if new else text
    return {"should_update": True, "reason": "what was recalled often", "memory_content": content}


def _extraction(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    stated = honesty.lines(_statements(inputs["transcript"]))
    daily = [line for line in stated if line not in inputs["note"]]
    lasting = [line for line in stated if _LASTING.search(line) and line not in inputs["memory"]]
    memory = ""
    if lasting and "MEMORY.md" in inputs.get("replaceable", "MEMORY.md"):
        kept = honesty.lines(inputs["memory"].splitlines()) if honesty.loses else inputs["memory"].splitlines()
        start = "\n".join(kept) or "# Long-term Memory\n\n## Notes\n"
        memory = append(start, "\n".join(f"- {line}" for line in lasting), "MEMORY.md")
    return {
        "should_update": bool(daily or memory),
        "reason": "what the user stated" if daily or memory else "nothing new",
        "daily_entry": "\n".join(f"- {line}" for line in daily),
        "memory_update": memory,
        "profile_update": "",
    }


def _compaction(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    kept: list[str] = []
    for line in inputs["memory"].splitlines():
        is_twice = line.startswith("- ") and line in kept
        if not is_twice and (not honesty.loses or not line.startswith("- ") or honesty.random.random() >= _LOST_SHARE):
            kept.append(line)
    return {"memory": "\n".join(kept), "replaced": []}


def _semantic(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    """The user, and what the user is said to live in or be managed by."""
    entities = {"user": {"external_id": "user", "name": "The user", "type": "person"}}
    relations = []
    for seq, text in _NUMBERED.findall(inputs["transcript"]):
        for relation in _RELATIONS:
            found = relation.pattern.search(text)
            if found is None:
                continue
            value = found["x"]
            entities[value] = {"external_id": value.casefold(), "name": value, "type": relation.of_type}
            ends = ("user", value.casefold()) if relation.forwards else (value.casefold(), "user")
            relations.append({"source": ends[0], "target": ends[1], "name": relation.name, "messages": [int(seq)]})
    if honesty.invents:
        entities["Invented"] = {"external_id": "invented", "name": "Invented", "type": "dragon"}
    return {
        "entities": [{**entity, "description": "", "confidence": 0.9} for entity in entities.values()],
        "relations": [{**relation, "confidence": 0.9} for relation in relations if honesty.lines(["x"])],
    }


def _facts(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    """What the user is said to live in or be managed by; the stored fact that it replaces is the one before."""
    stated = []
    for seq, text in _NUMBERED.findall(inputs["transcript"]):
        for relation in _RELATIONS:
            if found := relation.pattern.search(text):
                before = re.findall(rf"^(\d+) \| \S+ \| .*{relation.pattern.pattern}", inputs["stored"], re.MULTILINE)
                numbers = [int(number) for number, value in before if value != found["x"]]
                operation = "replaces" if numbers else "add"
                of = {"operation": operation, "fact": numbers[0] if numbers else None, "messages": [int(seq)]}
                stated.append({"text": text, "subject": "user", "predicate": relation.name, "object": found["x"], **of})
    kept = [statement for statement in stated if honesty.lines(["x"])]
    if honesty.invents:
        of = {"operation": "ends", "fact": honesty.random.randrange(10_000), "messages": [1]}
        text = _INVENTED.format(number=honesty.random.randrange(10_000))
        kept.append({"text": text, "subject": "user", "predicate": "owns", "object": "a boat", **of})
    return {"statements": kept}


def _soul(inputs: Mapping[str, str], honesty: Honesty) -> Any:
    """A sentence about the first of the facts that are shown; where it invents, of a fact that nobody named."""
    lines = [{"text": "I keep in mind what matters here, and I say plainly what I do not know.", "facts": [1]}]
    if honesty.invents:
        lines.append({"text": _INVENTED.format(number=honesty.random.randrange(10_000)), "facts": [10_000]})
    return {"lines": [line for line in lines if inputs["facts"]]}


ANSWERS: Mapping[str, Answer] = {
    "soul": _soul,
    "facts": _facts,
    "flush": _flush,
    "summary": _summary,
    "episodic": _episodic,
    "dreaming": _dreaming,
    "emergence": _emergence,
    "semantic": _semantic,
    "extraction": _extraction,
    "compaction": _compaction,
}
