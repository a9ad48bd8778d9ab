"""A language model for a made-up year, in this process: it does as the prompts ask, and now and then it does not.

It reads the inputs of a prompt between their marks, as a model would, and answers in the form that the prompt asks for.
With seeded chance it loses a part of its inputs, invents what nobody said, or answers what nobody can parse.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from reverie_bench.dreams.answers import ANSWERS, Honesty
from reverie_server.llm.endpoint import Endpoint, EndpointConfig, Failed
from reverie_server.llm.prompts import load_prompt

_INPUT = re.compile(r"^<(?P<name>[a-z][a-z0-9_]*)>\n(?P<text>.*?)\n?^</(?P=name)>$", re.DOTALL | re.MULTILINE)
_GARBAGE = ("I am sorry, but", '{"should_update": tru', "```json\n{]\n```", "", '{"lines": 5}')


@dataclass(frozen=True, slots=True)
class Faults:
    """How often, as a share of its answers, the model loses a third of its inputs, invents, or garbles."""

    loses: float = 0.05
    invents: float = 0.05
    garbles: float = 0.05


class ScriptedEndpoint(Endpoint):
    """Answers in this process."""

    def __init__(self, seed: int, faults: Faults) -> None:
        super().__init__(EndpointConfig(base_url="http://127.0.0.1:9/v1", model="scripted", max_retries=0))
        self._random = Random(seed)  # noqa: S311  (a made-up year protects nothing)
        self._faults = faults
        self._prompts: Counter[str] = Counter()
        self._happened: Counter[str] = Counter()

    async def post(self, body: Mapping[str, Any], deadline: float) -> bytes | Failed:
        """The answer to a request: see the module."""
        del deadline
        system, user = (body["messages"][place]["content"] for place in (0, 1))
        name = _prompt_of(system)
        self._prompts[name] += 1
        inputs = {match["name"]: match["text"] for match in _INPUT.finditer(user)}
        honesty = Honesty(self._random, loses=self._chance("loses"), invents=self._chance("invents"))
        text = ANSWERS[name](inputs, honesty)
        content = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
        if self._chance("garbles"):
            content = self._random.choice(_GARBAGE)
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
        return json.dumps({"choices": [choice]}).encode()

    def report(self) -> dict[str, dict[str, int]]:
        """The counts of prompts by name, and of faults by kind."""
        return {"asked": dict(sorted(self._prompts.items())), "faults": dict(sorted(self._happened.items()))}

    def _chance(self, fault: str) -> bool:
        happens: bool = self._random.random() < getattr(self._faults, fault)
        self._happened[fault] += happens
        return happens


def _prompt_of(system: str) -> str:
    for name in ANSWERS:
        # What stands before the first value that is put in.
        if system.startswith(load_prompt(name).system.partition("{{")[0]):
            return name
    raise LookupError("the scripted model does not know this prompt")
