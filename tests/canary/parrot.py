"""A language model that says again what it was shown: what gets into its prompts shows in what comes of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.canary.words import canaries_in
from tests.scripted_model import Asked, Reply, response_body, says, says_json

TITLE = "# Long-term Memory\n"
# A file grows by so many lines at a time, and a prompt's answer has so many.
ADDED = 2
TOLD = 20


def parrot(asked: Asked) -> Reply:
    """All canaries of the prompt, in the form that is asked for: notes, a summary, files, or an answer in a chat.

    An answer that is not streamed has them beside what is said, where they are not recorded and so come to no other
    memory; what is said has the last of the user's.
    """
    shown = sorted(canaries_in(json.dumps(asked.messages)))
    form = form_of(asked)
    if form is not None:
        return says_json(ANSWERS[form](asked, shown))
    if "<transcript>" in asked.texts("system"):
        return says("".join(f"- There is {word}.\n" for word in shown))
    content = f"I hear of {' and '.join(sorted(canaries_in(asked.texts('user')))[:1]) or 'nothing'}."
    if asked.body.get("stream"):
        return says(content)
    if asked.is_response:
        return Reply(body=json.dumps({**response_body(says(content), asked), "seen": shown}).encode())
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {"id": "chatcmpl-parrot", "object": "chat.completion", "created": 1, "model": "parrot"}
    return Reply(body=json.dumps({**answer, "choices": [choice], "seen": shown}).encode())


def form_of(asked: Asked) -> str | None:
    """The name of the form that an answer is asked for in; None: in none, as the turns of a chat are."""
    name: str | None = asked.body.get("response_format", {}).get("json_schema", {}).get("name")
    return name


def _given(asked: Asked, name: str) -> str:
    """An input of the prompt; "" where it is empty."""
    found = re.search(rf"<{name}>\n(.*?)\n?</{name}>", asked.texts("user"), re.DOTALL)
    return found[1] if found else ""


def _flush(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    return {"lines": [f"There is {word}." for word in shown][:TOLD]}


def _episodic(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    told = "\n".join(f"There is {word}." for word in shown[: 10 * TOLD])
    return {"summary": told or "Nothing was said.", "key_topics": list(shown[:10])}


def _semantic(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    """Each is a thing, and related to the next one, from one that everybody speaks of on; the first word is there
    twice, as things are that are told of badly."""
    things = [("harbour", "Harbour", "the harbour"), *((word, word, word) for word in shown[:TOLD])]
    things += [(f"{word}-2", f"{word} 2", word) for word in shown[:1]]
    entities = [
        {"external_id": external_id, "name": name, "type": "concept", "confidence": 0.9, "description": f"It is {word}"}
        for external_id, name, word in things
    ]
    pairs = [(source, target) for (source, *_), (target, *_) in pairwise(things)]
    relations = [{"source": s, "target": t, "name": "related_to", "confidence": 0.9, "messages": []} for s, t in pairs]
    return {"entities": entities, "relations": relations}


def _extraction(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    """All of them in the note, and some that the files do not have yet in these."""
    note, memory, profile = _given(asked, "note"), _given(asked, "memory"), _given(asked, "profile")
    noted = [f"- There is {word}." for word in shown if word not in note]
    return {
        "should_update": True,
        "reason": "It was said.",
        "daily_entry": "\n".join(noted[:TOLD]),
        "memory_update": _longer(memory or TITLE, [f"There is {word}." for word in shown if word not in memory]),
        "profile_update": _longer(profile or "# Profile\n", [f"There is {w}." for w in shown if w not in profile]),
    }


def _dreaming(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    numbers = [int(number) for number in re.findall(r"^\[(\d+)\] ", _given(asked, "episodes"), re.MULTILINE)]
    lines = [{"kind": "decision", "text": f"There is {word}.", "episodes": numbers} for word in shown[:TOLD]]
    return {"lines": lines}


def _emergence(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    found = re.findall(r"^- \(.*?\) (.*)$", _given(asked, "candidates"), re.MULTILINE)
    content = _longer(_given(asked, "memory") or TITLE, found)
    return {"should_update": bool(found), "reason": "It was asked for.", "memory_content": content}


def _compaction(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    """The part without its last entry, where it has some: what a person wrote comes back, the rest is archived."""
    lines = _given(asked, "memory").splitlines()
    entries = [number for number, line in enumerate(lines) if line.startswith("- ")]
    if len(entries) > 4:
        del lines[entries[-1]]
    return {"memory": "\n".join(lines) + "\n", "replaced": []}


def _facts(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    """Each message of a user is a fact of its first word; what is stored is said to be over by the first of them."""
    stored = re.findall(r"^(\d+) \| ", _given(asked, "stored"), re.MULTILINE)
    said = re.findall(r"^\[(\d+)\] \(.*?\) User: (.*)$", _given(asked, "transcript"), re.MULTILINE)
    found = [(int(number), words[0], text) for number, text in said if (words := sorted(canaries_in(text)))]
    of_stored = ["replaces", "ends", "same"][len(shown) % 3]
    statements = [
        {"text": text[:200], "subject": "user", "predicate": "speaks of", "object": word, "category": "general"}
        | {"operation": "add" if index or not stored else of_stored, "messages": [number]}
        | ({} if index or not stored else {"fact": int(stored[-1])})
        for index, (number, word, text) in enumerate(found[:TOLD])
    ]
    return {"statements": statements}


def _soul(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    """A sentence about each of some facts with its first word."""
    facts = re.findall(r"^\[(\d+)\] (.*)$", _given(asked, "facts"), re.MULTILINE)
    found = [(int(number), words[0]) for number, text in facts if (words := sorted(canaries_in(text)))]
    return {"lines": [{"text": f"I keep {word} in mind.", "facts": [number]} for number, word in found[:ADDED]]}


def _longer(text: str, told: Sequence[str]) -> str:
    """A file with a few lines more."""
    return text.rstrip("\n") + "\n\n" + "".join(f"- {line}\n" for line in told[:ADDED])


def _forgetting(asked: Asked, shown: Sequence[str]) -> dict[str, Any]:
    """Nothing: what it named would be gone."""
    return {"asks": False, "forget": []}


ANSWERS: Mapping[str, Callable[[Asked, Sequence[str]], dict[str, Any]]] = {
    "Forgetting": _forgetting,
    "Flush": _flush,
    "Episodic": _episodic,
    "Semantic": _semantic,
    "Extraction": _extraction,
    "Dreaming": _dreaming,
    "Emergence": _emergence,
    "Compaction": _compaction,
    "Facts": _facts,
    "Soul": _soul,
}
