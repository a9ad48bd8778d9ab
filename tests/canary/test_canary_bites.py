"""The driver is not blind: a server that is broken in one place is caught within the requests of an ordinary run."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
import structlog
from psycopg import sql
from tests.canary.background import REASONS
from tests.canary.calls import LeakError, demand
from tests.canary.stage import staged
from tests.canary.stored import misplaced
from tests.conftest import ServeRuntime
from tests.scripted_model import ScriptedModel

from reverie_indexer.database import database
from reverie_indexer.database.messages import Statement
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import store, transcript
from reverie_indexer.model import Place, Written
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.keys import Caller, Keys
from reverie_server.episodes import store as episodes
from reverie_server.extraction import store as extraction_store
from reverie_server.files.files import Workspace, Write
from reverie_server.forgettable import Findings
from reverie_server.forgetting import files as forgotten_files
from reverie_server.graph import known as graph_known
from reverie_server.graph import search as graph_search
from reverie_server.graph.erase import ForgettableGraph
from reverie_server.llm import ask as asking
from reverie_server.nights import reports
from reverie_server.prompt import context_files
from reverie_server.runtime import Runtime
from reverie_server.search import store as search_store
from reverie_server.search.request import SearchOutcome, SearchRequest
from reverie_server.search.search import Search
from reverie_server.sessions import lookup, sessions
from reverie_server.sessions.append import Recorder

Break = Callable[[pytest.MonkeyPatch], None]
SEED = 20260403
log = structlog.get_logger()


def edit_sql(monkeypatch: pytest.MonkeyPatch, queries: Queries, name: str, wrong: Callable[[str], str]) -> None:
    """Make a statement another one; fails where that changes nothing."""
    right = queries[name].decode()
    assert wrong(right) != right
    monkeypatch.setitem(queries._blocks, name, wrong(right).encode())


def open_rows(conninfo: str) -> None:
    """Switch row-level security off, which would make up for a forgotten predicate."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        found = connection.execute("SELECT relname FROM pg_class WHERE relrowsecurity ORDER BY relname").fetchall()
        for (table,) in found:
            connection.execute(sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(sql.Identifier(table)))


def sees_all_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks, the slices of all owners of the agent are visible."""
    edit_sql(
        monkeypatch,
        database.SQL,
        "visible_slices",
        lambda text: text.replace("owner_key = %(owner_key)s", "owner_key IS NOT NULL"),
    )


def searches_all_tenants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search knows no tenants."""
    tenant = r"(?:[a-z]+\.)?tenant_id = (?:%\(tenant_id\)s|c\.tenant_id) AND"
    edit_sql(monkeypatch, database.SQL, "visible_slices", lambda text: re.sub(tenant, "", text))
    for name in ("term_frequencies", "candidates", "passages"):
        edit_sql(monkeypatch, search_store.SQL, name, lambda text: re.sub(tenant, "", text))


def counts_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of files is right, its count is the tenant's."""
    own = "d.slice_id = ANY(%(slice_ids)s::bigint[]) AND"
    edit_sql(monkeypatch, store.SQL, "count_documents", lambda text: text.replace(own, ""))


def logs_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A helpful line in the log, at its lowest level."""
    put = Workspace.put

    async def talkative(self: Workspace, place: Place, write: Write, text: str) -> Written:
        log.debug("file_written", path=write.path, text=text)
        return await put(self, place, write, text)

    monkeypatch.setattr(Workspace, "put", talkative)


def mixes_up_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then a key is taken for the one before it."""
    authenticate = Keys.authenticate
    callers: list[Caller] = []

    async def confused(self: Keys, authorization: str | None) -> Caller:
        callers.append(await authenticate(self, authorization))
        return callers[-2] if len(callers) % 50 == 0 else callers[-1]

    monkeypatch.setattr(Keys, "authenticate", confused)


def caches_answers_by_query(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of answers whose key lacks the owner."""
    answered: dict[Any, SearchOutcome] = {}
    search = Search.search

    async def cached(self: Search, request: SearchRequest, rules: Any = None) -> SearchOutcome:
        key = (request.tenant_id, request.agent_id, request.query)
        if key not in answered:
            answered[key] = await search(self, request, rules)
        return answered[key]

    monkeypatch.setattr(Search, "search", cached)


def forgets_by_half(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forgotten stays in the versions before."""
    edit_sql(monkeypatch, forgotten_files.SQL, "rewrite_version", lambda text: text.replace("WHERE", "WHERE false AND"))


def finds_anybodys_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that an owner has none of is looked up by its id alone, whoever's it is."""
    look_up_statements = lookup.look_up_statements
    own = rb"AND \(owner_key = %\(owner_key\)s::text OR [^()]*%\(owner_key\)s[^()]*\)\s+ORDER BY"
    anybodys = b"ORDER BY owner_key IS NOT DISTINCT FROM %(owner_key)s DESC,"
    wrong = re.sub(own, anybodys, lookup.SQL["session_of_id"])
    assert wrong != lookup.SQL["session_of_id"]

    def look_up_anybodys(key: lookup.Key) -> list[Statement]:
        *opening, found = look_up_statements(key)
        return [*opening, found._replace(query=wrong)]

    monkeypatch.setattr(sessions, "look_up_statements", look_up_anybodys)


def prompts_with_notes_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt is made with the files of all owners, their daily notes among them."""
    own = r"AND slice_id = ANY\(string_to_array\(current_setting\('reverie.slices'\), ','\)::bigint\[\]\)"
    edit_sql(monkeypatch, context_files.SQL, "prompt_files", lambda text: re.sub(own, "", text))


def logs_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A helpful line in the log about a conversation."""
    append = Recorder.append

    async def talkative(self: Recorder, *args: Any) -> Any:
        log.debug("messages_added", messages=[message.content for message in args[-1]])
        return await append(self, *args)

    monkeypatch.setattr(Recorder, "append", talkative)


def keeps_what_is_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was said is removed, its passages are not."""

    async def nothing(*args: Any) -> None:
        pass

    monkeypatch.setattr(transcript, "remove_messages", nothing)


OF_SLICES = r"AND (?:[a-z]+\.)?slice_id = (?:ANY\(%\(slice_ids\)s::bigint\[\]\)|%\(slice_id\)s)"


def without_slices(monkeypatch: pytest.MonkeyPatch, queries: Queries, *names: str) -> None:
    """Statements that read of a tenant what others of it have, too."""
    for name in names:
        edit_sql(monkeypatch, queries, name, lambda text: re.sub(OF_SLICES, "", text))


def reads_all_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Episodes are read whoever's they are."""
    without_slices(monkeypatch, episodes.SQL, "episodes")


def walks_into_all_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of the graph begins anywhere, and goes on from there."""
    without_slices(monkeypatch, graph_search.SQL, "root", "starts", "term_frequencies")


def relates_to_all_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a conversation mentions is looked for in all graphs, and related to what it says."""
    without_slices(monkeypatch, graph_known.SQL, "known")


def shows_all_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows a report's id sees it."""
    without_slices(monkeypatch, reports.SQL, "report")


def extracts_all_conversations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job takes what is complete, whoever said it, into the files of the owner whom it is for."""
    without_slices(monkeypatch, extraction_store.SQL, "due")


def works_for_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job is begun for one owner, and what it writes goes to the owner of the job before it."""
    unit_of_work = Pipeline.unit_of_work
    places: list[Place] = []

    @asynccontextmanager
    async def confused(self: Pipeline, place: Place, changes: Any = (), **options: Any) -> Any:
        if any(change.reason in REASONS for change in changes):
            places.append(place)
            others = [other for other in places[-9:] if other.tenant_id == place.tenant_id and other != place]
            place = others[0] if others else place
        async with unit_of_work(self, place, changes, **options) as unit:
            yield unit

    monkeypatch.setattr(Pipeline, "unit_of_work", confused)


def logs_what_it_dreams(monkeypatch: pytest.MonkeyPatch) -> None:
    """A helpful line in the log about a job."""
    ask = asking.ask

    async def talkative(model: Any, tenant_id: str, question: Any) -> Any:
        log.debug("model_asked", inputs=question.inputs)
        return await ask(model, tenant_id, question)

    monkeypatch.setattr("reverie_server.graph.stage.ask", talkative)


def forgets_no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forgotten stays in the graph."""

    async def nothing(*args: Any, **named: Any) -> Findings:
        return Findings("fact")

    monkeypatch.setattr(ForgettableGraph, "erase", nothing)


def keeps_episodes_of_what_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session is deleted, and what the graph has of it is not."""

    async def nothing(*args: Any, **named: Any) -> None:
        return None

    monkeypatch.setattr(ForgettableGraph, "drop_episodes", nothing)


@pytest.fixture
def everything_about(
    talking: Runtime, scripted: ScriptedModel, serve_runtime: ServeRuntime, conninfo: str
) -> Callable[[int], Awaitable[None]]:
    """What an ordinary run of so many steps looks at; LeakError."""

    async def run(steps: int) -> None:
        async with staged(talking, await serve_runtime(talking), SEED, scripted) as driver:
            await driver.run(steps)
        faults = misplaced(conninfo, driver.world)
        demand(not faults, f"the database holds what it must not: {faults}")

    return run


@pytest.mark.parametrize(
    ("broken", "said", "steps"),
    [
        (sees_all_owners, "an answer shows|a list has|is found, and|to be updated", 2000),
        (searches_all_tenants, "an answer shows what is not for it", 2000),
        pytest.param(counts_all_files, "a list of .* counts", 2000, marks=pytest.mark.slow),
        pytest.param(logs_what_is_written, "a log has", 2000, marks=pytest.mark.slow),
        pytest.param(finds_anybodys_session, "session", 2000, marks=pytest.mark.slow),
        (prompts_with_notes_of_others, "a prompt has files of others|shows what is not for it", 2000),
        pytest.param(logs_what_is_said, "a log has", 2000, marks=pytest.mark.slow),
        (reads_all_episodes, "an answer shows|episodes? .* (found|is removed)|are (listed|indexed) of", 2000),
        pytest.param(walks_into_all_graphs, "an answer shows|entities .* found", 2000, marks=pytest.mark.slow),
        pytest.param(shows_all_reports, "the report .* found|an answer shows", 2000, marks=pytest.mark.slow),
        (extracts_all_conversations, "the server wrote what the memory never had", 0),
        pytest.param(
            relates_to_all_graphs, "has what it is not made of|a question of Semantic", 2000, marks=pytest.mark.slow
        ),
        pytest.param(works_for_somebody_else, "the server wrote what the memory never had", 0, marks=pytest.mark.slow),
        pytest.param(logs_what_it_dreams, "a log has", 0, marks=pytest.mark.slow),
        pytest.param(
            forgets_no_graph,
            "the database holds|told of in no|an answer shows|not made of",
            2000,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            keeps_episodes_of_what_is_deleted, "there is still what should be gone", 4000, marks=pytest.mark.slow
        ),
        pytest.param(
            keeps_what_is_cleared,
            "is found, and is not there|told that is not|shows|says that|database",
            2000,
            marks=pytest.mark.slow,
        ),
        pytest.param(mixes_up_callers, None, 2000, marks=pytest.mark.slow),
        pytest.param(caches_answers_by_query, "an answer shows", 2000, marks=pytest.mark.slow),
        pytest.param(forgets_by_half, "the database holds|an answer shows", 500, marks=pytest.mark.slow),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_a_leak_is_caught(
    everything_about: Callable[[int], Awaitable[None]],
    conninfo: str,
    monkeypatch: pytest.MonkeyPatch,
    broken: Break,
    said: str | None,
    steps: int,
) -> None:
    open_rows(conninfo)
    broken(monkeypatch)
    with pytest.raises(LeakError, match=said):
        await everything_about(steps)


@pytest.mark.slow
@pytest.mark.parametrize("broken", [sees_all_owners, searches_all_tenants], ids=lambda value: value.__name__)
async def test_row_level_security_makes_up_for_forgotten_predicates(
    everything_about: Callable[[int], Awaitable[None]], monkeypatch: pytest.MonkeyPatch, broken: Break
) -> None:
    """The same faults show nothing where the rows themselves are closed."""
    broken(monkeypatch)
    await everything_about(500)
