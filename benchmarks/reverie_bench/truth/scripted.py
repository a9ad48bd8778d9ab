"""A language model that knows the script of a life, over HTTP: it does as the prompts ask, and now and then it errs.

Of the inputs of a prompt it keeps the statements that the script marks as worth keeping. With seeded chance it loses a
third of them, adds what nobody said (a sentence of its own, or a statement with another value in it), takes another
stored fact than the one that is meant, or answers what nobody can parse. Everything it invents holds `INVENTED`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from reverie_bench.truth.judge import folded, holds
from reverie_bench.truth.life import Life, Statement
from reverie_server.heuristics.fact_grammar.terms import is_unspaced
from reverie_server.llm.prompts import load_prompt
from reverie_server.text.markdown_edit import append

INVENTED = "Quixeta"
_KEPT = ("worth", "old", "remember", "kin")
_LOST_SHARE = 1 / 3
_INPUT = re.compile(r"^<(?P<name>[a-z][a-z0-9_]*)>\n(?P<text>.*?)\n?^</(?P=name)>$", re.DOTALL | re.MULTILINE)
_STORED = re.compile(r"^(?P<number>\d+) \| (?P<day>[^|]*) \| (?P<text>.+)$", re.MULTILINE)
_MESSAGE_NUMBER = re.compile(r"^\[(?P<number>\d+)\]", re.MULTILINE)
_NUMBERED = re.compile(r"\[(\d+)\] ([^\[\n]+)")
_EPISODE = re.compile(r"^\[(?P<number>\d+)\][^\n]*\n(?P<text>.*?)(?=^\[\d+\]|\Z)", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(r"[^\W\d_]{4,}")
_GARBAGE = ("I am sorry, but", '{"should_update": tru', "```json\n{]\n```", "", '{"lines": 5}')
_BEGINNINGS = {"MEMORY.md": "# Long-term Memory\n\n## Notes\n", "PROFILE.md": "# Profile\n"}
_RELATIONS = {
    "home": ("located_in", "location"),
    "work": ("based_at", "organization"),
    "boss": ("reports_to", "person"),
}


@dataclass(frozen=True, slots=True)
class Faults:
    """How often, as a share of its answers, the model loses, invents, takes another stored fact, or garbles."""

    loses: float = 0.08
    invents: float = 0.08
    confuses: float = 0.04
    garbles: float = 0.05


@dataclass(frozen=True, slots=True)
class _Answering:
    """One answer: the inputs, and how it goes wrong."""

    life: Life
    inputs: Mapping[str, str]
    random: Random
    loses: bool
    invents: bool
    confuses: bool

    def of(self, *names: str) -> list[str]:
        """The statements that the inputs of these names hold, as they are answered: some lost, some invented."""
        given = folded("\n".join(self.inputs.get(name, "") for name in names))
        texts = [each.text.strip(" ,") for each in _kept(self.life) if folded(each.text) in given]
        kept = [text for text in dict.fromkeys(texts) if not self.loses or self.random.random() >= _LOST_SHARE]
        return [*kept, self._invention(kept)] if self.invents else kept

    def new(self, *names: str, beside: Sequence[str]) -> list[str]:
        """The statements of the inputs that the inputs `beside` do not hold."""
        there = folded("\n".join(self.inputs.get(name, "") for name in beside))
        return [text for text in self.of(*names) if folded(text) not in there]

    def _invention(self, texts: Sequence[str]) -> str:
        """Another value in a statement, or a sentence of its own."""
        if texts and self.random.random() < 0.5:
            text = self.random.choice(texts)
            words = _VALUE.findall(text)
            if words:
                return text.replace(words[-1], INVENTED)
        return f"The user owns a boat that is called {INVENTED}-{self.random.randrange(10_000)}."


def _kept(life: Life) -> list[Statement]:
    return [each for each in life.statements() if each.tag in _KEPT and each.by_user]


def _said_at(life: Life, text: str) -> datetime | None:
    """When the statement of a line was said; None for a line that is none."""
    plain = folded(text)
    for session in life.sessions:
        for message in session.messages:
            if any(folded(each.text.strip(" ,")) in plain for each in message.statements if each.tag in _KEPT):
                return session.said_at
    return None


def _supersedes(life: Life, new: str, old: str) -> bool:
    """Whether one line answers the question of another with another value, and was said later."""
    topics = (_topic(life, new), _topic(life, old))
    times = (_said_at(life, new), _said_at(life, old))
    if topics[0] is None or topics[1] is None or times[0] is None or times[1] is None:
        return False
    return topics[0][0] == topics[1][0] and topics[0][1] != topics[1][1] and times[0] > times[1]


def _file(life: Life, name: str, text: str, lines: Sequence[str]) -> str:
    """The file with the lines, without those that they supersede; empty where there is nothing to say."""
    there = [line for line in text.splitlines() if line.startswith("- ")]
    new = [line for line in lines if not any(_supersedes(life, old, line) for old in (*there, *lines))]
    gone = {line for line in there if any(_supersedes(life, each, line) for each in new)}
    if not new:
        return ""
    kept = "\n".join(line for line in text.splitlines() if line not in gone)
    return append(kept if text.strip() else _BEGINNINGS[name], "\n".join(f"- {line}" for line in new), name)


def _flush(asked: _Answering) -> Any:
    return {"lines": asked.new("transcript", beside=["previous"])[:20]}


def _sentence(statement: str) -> str:
    """A statement as prose has it: it begins with a capital and ends."""
    if statement[-1:] in ".!?。！？":
        return statement
    return f"{statement}。" if is_unspaced(statement) else f"{statement[:1].upper()}{statement[1:]}."


def _summary(asked: _Answering) -> Any:
    return "\n".join(f"- {line}" for line in asked.of("previous", "transcript")) or "- Nothing of note was said."


def _episodic(asked: _Answering) -> Any:
    summary = " ".join(map(_sentence, asked.of("previous", "transcript")))
    return {"summary": summary or "The user and the assistant exchanged greetings.", "key_topics": []}


def _dreaming(asked: _Answering) -> Any:
    episodes = {int(each["number"]): folded(each["text"]) for each in _EPISODE.finditer(asked.inputs["episodes"])}
    lines = []
    for text in asked.of("episodes")[:30]:
        told = [number for number, told in episodes.items() if folded(text) in told] or sorted(episodes)[:1]
        lines.append({"kind": "fact", "text": text[:200], "episodes": told})
    return {"lines": lines}


def _emergence(asked: _Answering) -> Any:
    lines = asked.new("candidates", beside=["memory"])
    content = _file(asked.life, "MEMORY.md", asked.inputs["memory"], lines)
    return {"should_update": bool(content), "reason": "recalled often", "memory_content": content}


def _extraction(asked: _Answering) -> Any:
    daily = asked.new("transcript", beside=["note", "saved"])
    lasting = asked.new("transcript", beside=["memory", "saved"])
    names = [text for text in asked.new("transcript", beside=["profile"]) if _is_of_profile(asked.life, text)]
    memory = _file(asked.life, "MEMORY.md", asked.inputs["memory"], lasting)
    profile = _file(asked.life, "PROFILE.md", asked.inputs["profile"], names)
    return {
        "should_update": bool(daily or memory or profile),
        "reason": "what the user stated",
        "daily_entry": "\n".join(f"- {line}" for line in daily[:10]),
        "memory_update": memory,
        "profile_update": profile,
    }


def _is_of_profile(life: Life, text: str) -> bool:
    return any(holds(text, values) for values in life.profile.values())


def _compaction(asked: _Answering) -> Any:
    lines = list(dict.fromkeys(asked.inputs["memory"].splitlines()))
    kept = [line for line in lines if not asked.loses or line[:2] != "- " or asked.random.random() >= _LOST_SHARE]
    return {"memory": "\n".join(kept), "replaced": []}


def _message(transcript: str, text: str) -> int | None:
    """The number of the message that has the text, where the transcript numbers its messages."""
    at = folded(transcript).find(folded(text))
    numbered = _MESSAGE_NUMBER.finditer(transcript)
    before = [int(each["number"]) for each in numbered if len(folded(transcript[: each.start()])) <= at]
    return before[-1] if at >= 0 and before else None


def _topic(life: Life, text: str) -> tuple[str, str, str] | None:
    """The predicate, the object, and the kind of the question of the life that the text answers."""
    for number, question in enumerate(life.questions):
        if question.about_past:
            continue
        for answer in (*question.current, *question.old):
            if holds(text, [answer]):
                return f"{question.kind} {number}", answer, question.kind
    return None


def _ends(life: Life, text: str, old: str) -> bool:
    """Whether a line says that what another said is over: it holds, and names the value that was superseded."""
    topic, of_old = _topic(life, text), _topic(life, old)
    if topic is None or of_old is None or topic[:2] != of_old[:2] or folded(text) == folded(old):
        return False
    tags = {each.tag for each in _kept(life) if folded(each.text.strip(" ,")) in folded(text)}
    is_old = any(topic[1] in question.old for question in life.questions)
    return is_old and "worth" in tags


def _facts(asked: _Answering) -> Any:
    transcript = asked.inputs["transcript"]
    stored = [(int(each["number"]), each["text"]) for each in _STORED.finditer(asked.inputs.get("stored", ""))]
    statements = []
    for text in asked.of("transcript"):
        predicate, value, _ = _topic(asked.life, text) or ("says", text[:80], "other")
        same = [number for number, old in stored if folded(text) in folded(old)]
        earlier = [number for number, old in stored if _supersedes(asked.life, text, old)]
        ended = [number for number, old in stored if _ends(asked.life, text, old)]
        chosen = [
            (operation, those[0])
            for operation, those in (("same", same), ("replaces", earlier), ("ends", ended))
            if those
        ]
        operation, fact = chosen[0] if chosen else ("add", None)
        if asked.confuses and stored:
            operation, fact = "replaces", asked.random.choice(stored)[0]
        number = _message(transcript, text)
        statements.append(
            {
                "text": text,
                "subject": "user",
                "predicate": predicate,
                "object": value,
                "category": "general",
                "operation": operation,
                "fact": fact,
                "messages": [1 if number is None else number],
            }
        )
    return {"statements": statements}


def _semantic(asked: _Answering) -> Any:
    transcript, speaker = asked.inputs["transcript"], "user"
    entities: dict[str, dict[str, Any]] = {speaker: {"external_id": speaker, "name": "User", "type": "person"}}
    relations = []
    for text in asked.of("transcript"):
        topic = _topic(asked.life, text)
        number = _message(transcript, text)
        if topic is None or topic[2] not in _RELATIONS or number is None:
            continue
        name, of_type = _RELATIONS[topic[2]]
        target = folded(topic[1]).replace(" ", "-")
        entities[target] = {"external_id": target, "name": topic[1], "type": of_type}
        relations.append({"source": speaker, "target": target, "name": name, "messages": [number], "confidence": 0.9})
    if asked.invents:
        entities["invented"] = {"external_id": "invented", "name": INVENTED, "type": "person"}
    full = [{**each, "description": "", "confidence": 0.9} for each in entities.values()]
    return {"entities": full, "relations": relations}


def _soul(asked: _Answering) -> Any:
    lines = [{"text": "I keep in mind what matters here, and I say plainly what I do not know.", "facts": [1]}]
    if asked.invents:
        lines.append({"text": f"I have known {INVENTED} for years.", "facts": [1]})
    return {"lines": lines}


def _forgetting(asked: _Answering) -> Any:
    wanted = [folded(each.text.strip(" ,")) for each in asked.life.statements() if each.tag == "forget"]
    sentences = [match.groups() for text in asked.inputs.values() for match in _NUMBERED.finditer(text)]
    chosen = [int(number) for number, text in sentences if any(each in folded(text) for each in wanted)]
    if asked.loses:
        chosen = chosen[1:]
    if asked.confuses:
        chosen = [number + 1 for number in chosen]
    return {"asks": bool(chosen), "forget": [*chosen, 10_000] if asked.invents else chosen}


ANSWERS: Mapping[str, Callable[[_Answering], Any]] = {
    "soul": _soul,
    "flush": _flush,
    "summary": _summary,
    "episodic": _episodic,
    "dreaming": _dreaming,
    "emergence": _emergence,
    "semantic": _semantic,
    "extraction": _extraction,
    "compaction": _compaction,
    "facts": _facts,
    "forgetting": _forgetting,
}


class ScriptedModel:
    """The model of one life: chat completions, and counts of what it was asked and of what went wrong."""

    def __init__(self, life: Life, seed: int, faults: Faults) -> None:
        self.asked: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self._life = life
        self._random = Random(f"{seed} {life.name}")  # noqa: S311  (a script protects nothing)
        self._rates = faults

    async def complete(self, request: Request) -> JSONResponse:
        """A chat completion."""
        body = await request.json()
        system, user = (body["messages"][place]["content"] for place in (0, 1))
        content = self._answer(system, user)
        message = {"role": "assistant", "content": content}
        return JSONResponse({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def _answer(self, system: str, user: str) -> str:
        name = next((name for name in ANSWERS if system.startswith(_beginning(name))), None)
        self.asked[name or "unknown"] += 1
        if name is None:
            # What follows no prompt that it knows (a stage of a later day): it says nothing.
            return "{}"
        inputs = {match["name"]: match["text"] for match in _INPUT.finditer(user)}
        chances = {fault: self._chance(fault) for fault in ("loses", "invents", "confuses")}
        answer = ANSWERS[name](_Answering(self._life, inputs, self._random, **chances))
        if self._chance("garbles"):
            return self._random.choice(_GARBAGE)
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)

    def _chance(self, fault: str) -> bool:
        happens: bool = self._random.random() < getattr(self._rates, fault)
        self.faults[fault] += happens
        return happens


class _Server(uvicorn.Server):
    """A server within another program, to which the signals are left."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _beginning(name: str) -> str:
    """What stands in a prompt before the first value that is put in."""
    return load_prompt(name).system.partition("{{")[0]


@asynccontextmanager
async def served(model: ScriptedModel) -> AsyncIterator[str]:
    """The base URL at which the model answers, on a port of this machine that was free."""
    app = Starlette(routes=[Route("/v1/chat/completions", model.complete, methods=["POST"])])
    config = uvicorn.Config(app, port=0, log_config=None, access_log=False, lifespan="off")
    server = _Server(config)
    task = asyncio.create_task(server.serve())
    try:
        while not server.started:
            if task.done():
                await task
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = True
        await task
