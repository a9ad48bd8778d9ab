"""The registry of tools: for each its name, arguments, description and handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from reverie_indexer.errors import (
    DatabaseUnavailable,
    DataDamaged,
    Forbidden,
    MemoryDisabled,
    NotFound,
    OwnerRequired,
    ReadOnlyMember,
    ReverieError,
)
from reverie_indexer.retry import read_again
from reverie_server.access.audit import Outcome, outcome_is
from reverie_server.access.connection import Connection
from reverie_server.text.fences import for_prompt
from reverie_server.tools.arguments import Arguments, read_arguments, schema_of
from reverie_server.tools.descriptions import Description, common_remedies, describe

if TYPE_CHECKING:
    from reverie_server.runtime import Runtime

log = structlog.get_logger()
JsonObject = dict[str, Any]
ToolArguments = TypeVar("ToolArguments", bound=Arguments)
Handler = Callable[["Runtime", Connection, ToolArguments], Awaitable[JsonObject]]


@dataclass(frozen=True, slots=True)
class Hints:
    """The effect of a tool. `destructive`: it may remove texts. `idempotent`: repeating it changes nothing."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool. `run` raises ReverieError for what the caller did wrong."""

    name: str
    takes: type[Arguments]
    hints: Hints
    run: Handler[Any]
    description: Description

    @cached_property
    def schema(self) -> JsonObject:
        """The JSON schema of the arguments."""
        return schema_of(self.takes, self.description.arguments)


def tool(name: str, takes: type[ToolArguments], hints: Hints, run: Handler[ToolArguments]) -> Tool:
    """A tool with its description file; ValueError unless that describes exactly the tool's arguments."""
    description = describe(name)
    if description.arguments.keys() != takes.model_fields.keys() or not description.title or not description.text:
        raise ValueError(f"prompts/tools/{name}.md does not have a title, a text and exactly the tool's arguments")
    return Tool(name, takes, hints, run, description)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer that the model reads: a result, or an error with a remedy."""

    result: JsonObject | None
    code: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a result."""
        return self.result is not None

    def as_json(self) -> JsonObject:
        """`{ok, result}` or `{ok, error: {code, message}}`."""
        if self.result is not None:
            return {"ok": True, "result": self.result}
        return {"ok": False, "error": {"code": self.code, "message": self.message}}


class Registry:
    """The tools in the order in which models see them."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._tools.get(name)

    async def run(self, system: Runtime, connection: Connection, name: str, arguments: object) -> Answer:
        """Run a tool. An error that the model can correct, or go on without, is an answer.

        OwnerRequired, which only the program around the model can correct, is raised. The texts of the answer hold no
        fences of prompts and no control characters, whatever memory holds.
        """
        try:
            found = self._tools.get(name)
            if found is None:
                known = ", ".join(self._tools)
                raise NotFound(f"there is no tool {printable(name)!r}; the tools are: {known}")
            read = read_arguments(found.takes, arguments)
            if found.hints.read_only:
                return Answer(_for_prompt(await read_again(lambda: found.run(system, connection, read))))
            return Answer(_for_prompt(await found.run(system, connection, read)))
        except OwnerRequired:
            raise
        except ReverieError as error:
            outcome = _outcome(error)
            outcome_is(outcome)
            if outcome == "failed":
                log.warning("tool_failed", tool=name[:64], code=error.code, detail=error.detail)
            return self.refusal(name, error.code, error.detail)

    def refusal(self, name: str, code: str, detail: str) -> Answer:
        """An error as an answer: the fact, then what to do next."""
        found = self._tools.get(name)
        remedies = found.description.remedies if found else {}
        remedy = remedies.get(code) or common_remedies().get(code, "")
        fact = detail if detail.endswith((".", "!", "?")) else f"{detail}."
        return Answer(None, code, for_prompt(f"{fact} {remedy}".strip()))


def _outcome(error: ReverieError) -> Outcome:
    if isinstance(error, DatabaseUnavailable | DataDamaged):
        return "failed"
    return "denied" if isinstance(error, Forbidden | MemoryDisabled | ReadOnlyMember) else "refused"


def _for_prompt(value: Any) -> Any:
    """A JSON value whose texts are safe in a prompt."""
    if isinstance(value, str):
        return for_prompt(value)
    if isinstance(value, list | tuple):
        return [_for_prompt(item) for item in value]
    return {for_prompt(name): _for_prompt(item) for name, item in value.items()} if isinstance(value, dict) else value


def printable(name: str) -> str:
    """A caller's name for a tool, at most 100 characters of valid Unicode."""
    return name.encode("utf-8", "backslashreplace").decode()[:100]
