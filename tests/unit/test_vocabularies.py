"""One vocabulary, said in three places: the lists of `schema.sql`, the types of the server, the types of the client.

Two tables here say which of them must agree. What stands in no table fails, and so does a value in one place only.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

import reverie_client
from reverie_indexer import model
from reverie_server.access import audit, keys
from reverie_server.browse import events, timeline
from reverie_server.facts import model as facts
from reverie_server.forgettable import ForgetTier, ReceiptKind
from reverie_server.graph import model as graph
from reverie_server.heuristics import stated_fact
from reverie_server.http.schemas import inject, sessions
from reverie_server.jobs import model as jobs
from reverie_server.jobs import scheduled_backups
from reverie_server.llm import generation
from reverie_server.nights import reports
from reverie_server.prompt import turn_log
from reverie_server.search import recall_log, request
from reverie_server.sessions import model as conversations
from reverie_server.tools import forms

SCHEMA = (Path(__file__).parents[2] / "schema.sql").read_text()
_TABLE = re.compile(r"^CREATE TABLE IF NOT EXISTS (\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)
_LIST = re.compile(r"CHECK \((\w+) IN \(([^)]*)\)\)")

# The columns of every table, by name: a name means the same wherever it stands, unless the table is named.
COLUMNS: dict[str, Any] = {
    "method": generation.Method,
    "last_method": generation.Method,
    "last_status": jobs.Status,
    "sessions.state": conversations.State,
    "messages.role": conversations.Role,
    "events.kind": jobs.EventKind,
    "recalls.source": recall_log.Source,
    "reports.mode": reports.Mode,
    "reports.trigger": jobs.Trigger,
    "reports.status": reports.Status,
    "keys.role": keys.Role,
    "audit.action": audit.Action,
    "audit.outcome": audit.Outcome,
    "entities.type": graph.EntityType,
    "relations.name": graph.RelationName,
    "duplicates.state": graph.DuplicateState,
    "facts.category": stated_fact.Category,
    "facts.state": facts.FactState,
    "facts.closed_by": facts.ClosedBy,
    "fact_sources.operation": facts.Operation,
    "contradictions.state": facts.ContradictionState,
    "contradictions.kept": facts.Kept,
    "receipts.kind": ReceiptKind,
    "scheduled_backups.kind": scheduled_backups.Kind,
    "turns.kind": turn_log.Kind,
    "turns.answer": turn_log.Ending,
}
HTTP_METHODS = frozenset({"GET", "PUT", "PATCH", "POST", "DELETE"})
TRIGGER_SOURCE = get_type_hints(sessions.Complete)["trigger_source"]
SKIPPED = get_type_hints(inject.InjectResponse)["skipped"]
FALLBACK = get_type_hints(request.SearchOutcome)["fallback"]
# The client's types, by name; then the fields of its dataclasses that have a type without one.
CLIENT: dict[str, Any] = {
    "AuditAction": audit.Action,
    "AuditOutcome": audit.Outcome,
    "ContradictionState": facts.ContradictionState,
    "DuplicateState": graph.DuplicateState,
    "Ended": reports.Status,
    "EntityType": graph.EntityType,
    "FactCategory": stated_fact.Category,
    "FactState": facts.FactState,
    "Feedback": facts.Vote,
    "ForgottenTier": ForgetTier,
    "Keep": facts.Kept,
    "KeyRole": keys.Role,
    "Method": generation.Method,
    "Mode": request.Mode,
    "Role": conversations.Role,
    "Scope": model.Scope,
    "Skipped": SKIPPED,
    "Stage": jobs.Stage,
    "State": conversations.State,
    "Status": jobs.Status,
    "StreamedKind": events.StreamedKind,
    "Tier": model.Tier,
    "TimelineKind": timeline.TimelineKind,
    "ToolFormat": forms.Format,
    "Trigger": TRIGGER_SOURCE,
}


def values_of(annotation: Any) -> frozenset[str]:
    """The strings that a type allows, however it is put together."""
    if get_origin(annotation) is Literal:
        return frozenset(value for value in get_args(annotation) if isinstance(value, str))
    return frozenset().union(*map(values_of, get_args(annotation)))


def checked_columns() -> Iterator[tuple[str, str, frozenset[str]]]:
    for table, body in _TABLE.findall(SCHEMA):
        for column, values in _LIST.findall(body):
            yield table, column, frozenset(re.findall(r"'([^']*)'", values))


def client_types() -> dict[str, frozenset[str]]:
    return {
        name: values_of(value)
        for module in client_modules()
        for name, value in vars(module).items()
        if get_origin(value) is Literal
    }


def client_modules() -> list[ModuleType]:
    found = pkgutil.iter_modules(reverie_client.__path__)
    return [importlib.import_module(f"reverie_client.{module.name}") for module in found if not module.ispkg]


@pytest.mark.parametrize(("table", "column", "values"), list(checked_columns()))
def test_a_list_of_the_schema_is_a_type_of_the_server(table: str, column: str, values: frozenset[str]) -> None:
    expected = COLUMNS.get(f"{table}.{column}", COLUMNS.get(column))
    assert values == values_of(expected)


def test_every_column_of_the_table_has_its_list() -> None:
    known = {name for table, column, _ in checked_columns() for name in (f"{table}.{column}", column)}
    assert COLUMNS.keys() - known == set()
    assert len(re.findall(r"CHECK \(\w+ IN", SCHEMA)) == len(list(checked_columns()))


def test_the_types_of_the_client_are_those_of_the_server() -> None:
    assert client_types() == {name: values_of(expected) for name, expected in CLIENT.items()}


def test_a_type_without_a_name_in_the_client_is_one_of_the_server() -> None:
    """Fields of its models: what the server may answer there, no more and no less."""
    named = {values_of(expected) for expected in [*COLUMNS.values(), *CLIENT.values(), FALLBACK]}
    others = {frozenset({"personal", "team", "global", "leader"}), frozenset({"leader"}), frozenset({"messages"})}
    strange = [
        (module.__name__, name, values)
        for module in client_modules()
        for name, values in unnamed_types(module)
        if values not in named | others
    ]
    assert strange == []


def unnamed_types(module: ModuleType) -> Iterator[tuple[str, frozenset[str]]]:
    for name, value in vars(module).items():
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "__dataclass_fields__"):
            for field, annotation in get_type_hints(value).items():
                if (values := values_of(annotation)) - HTTP_METHODS:
                    yield f"{name}.{field}", values
