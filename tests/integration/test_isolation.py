"""A forgotten predicate shows nothing: what row-level security keeps apart when the SQL does not."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

import psycopg
import pytest
from psycopg import conninfo as pg_conninfo
from psycopg import sql
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import ALL_OWNERS, Database, visible_slices
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.embedding import migrate
from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_indexer.index import vectors
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.search.request import SearchRequest, SearchRules
from reverie_server.search.search import Search

SPOKEN = ("sessions", "messages", "compactions", "window_summaries", "events", "recalls")
OF_A_SLICE = ("tombstones", "documents", "versions", "chunks", "postings", "vectors", *SPOKEN)
ADA = Place("acme", "wren", "personal", "user:ada")
BO = Place("acme", "wren", "personal", "user:bo")
TEAM = Place("acme", "wren", "team")
OTHER_AGENT = Place("acme", "finch", "team")
OTHER_TENANT = Place("umbra", "wren", "personal", "user:ada")
PLACES = (ADA, BO, TEAM, OTHER_AGENT, OTHER_TENANT, Place("umbra", "wren", "global"))

BEYOND = (
    "INSERT INTO agents (tenant_id, agent_id, name) VALUES ('umbra', 'spy', 'spy')",
    "INSERT INTO slices (tenant_id, agent_id) VALUES ('umbra', NULL)",
    "INSERT INTO embedding_cache VALUES ('umbra', 1, '\\x00', '[1]')",
    "UPDATE agents SET tenant_id = 'umbra'",
    "UPDATE documents SET tenant_id = 'umbra'",
    "UPDATE documents SET slice_id = 1000000",
    "INSERT INTO versions SELECT 'umbra', slice_id, document_id, 99, content, size, sha256, deleted, at, by, reason"
    " FROM versions LIMIT 1",
    "INSERT INTO postings VALUES ('acme', 1000000, 1, 1, 'term', 1, 1, 'document')",
    "INSERT INTO vectors VALUES ('umbra', 1, 1, 1, 0, 1, 'document', true, '[1]')",
    "INSERT INTO models (provider, name, revision, dimension, normalised) VALUES ('p', 'n', 'r', 1, true)",
    "UPDATE models SET active = false",
    "UPDATE model_relevance SET usual_similarity = 0",
    "INSERT INTO slice_nearness VALUES ('acme', 1000000, 1, 0.1, 1)",
    "INSERT INTO slice_nearness SELECT 'umbra', slice_id, 1, 0.1, 1 FROM slices",
    "INSERT INTO tombstones VALUES ('acme', 1000000, '\\x00')",
    "INSERT INTO removed_turns VALUES ('umbra', '\\x00', now())",
    "INSERT INTO sessions (tenant_id, slice_id, agent_id, session_id) VALUES ('acme', 1000000, 'wren', 's')",
    "INSERT INTO sessions (tenant_id, slice_id, agent_id, session_id)"
    " SELECT 'umbra', slice_id, 'wren', 's' FROM slices",
    "UPDATE sessions SET slice_id = 1000000",
    "UPDATE messages SET tenant_id = 'umbra'",
    "INSERT INTO messages SELECT tenant_id, session_key, 99, 1000000, NULL, role, content, extra, tokens, at"
    " FROM messages LIMIT 1",
    "UPDATE compactions SET slice_id = 1000000",
    "UPDATE window_summaries SET slice_id = 1000000",
    "INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload)"
    " VALUES ('acme', 1000000, 'wren', 'session.completed', '{}')",
    "UPDATE recalls SET slice_id = 1000000",
    "INSERT INTO model_calls VALUES ('umbra', '2026-04-03', 1)",
    "INSERT INTO model_outcomes VALUES ('umbra', '2026-04-03', 'answered', 1, now())",
    "SELECT * FROM tombstone_key",
    "SELECT * FROM keys",
    "DELETE FROM schema_info",
    "SELECT * FROM schema_info",
    "SELECT * FROM vectors_0",
    "ALTER TABLE chunks DISABLE ROW LEVEL SECURITY",
    "CREATE TABLE public.mine (x int)",
)


def put(text: str, path: str = "notes/a.md") -> Change:
    return overwrite(path, text, by="user", reason="put")


@pytest.fixture
async def filled(pipeline: Pipeline, database: Database) -> None:
    for number, place in enumerate(PLACES):
        text = f"the lantern of {place.tenant_id} {place.agent_id} {place.owner_key}"
        await pipeline.write(place, put(text, f"notes/{number}.md"))
    async with database.maintenance() as connection:
        await connection.execute(
            "INSERT INTO tombstones SELECT tenant_id, slice_id, '\\x00' FROM slices;"
            "INSERT INTO sessions (tenant_id, slice_id, agent_id, owner_key, session_id)"
            " SELECT tenant_id, slice_id, coalesce(agent_id, 'wren'), owner_key, 'web:' || slice_id FROM slices;"
            "INSERT INTO messages (tenant_id, session_key, seq, slice_id, role, content, tokens, at)"
            " SELECT tenant_id, session_key, 1, slice_id, 'user', 'lantern', 1, now() FROM sessions;"
            "INSERT INTO compactions (tenant_id, session_key, number, slice_id, from_seq, through_seq, summary,"
            " flushed, method)"
            " SELECT tenant_id, session_key, 1, slice_id, 1, 1, 'lantern', 0, 'extractive' FROM sessions;"
            "INSERT INTO window_summaries (tenant_id, session_key, slice_id, from_seq, through_seq, summary, prompt,"
            " prompt_version, model)"
            " SELECT tenant_id, session_key, slice_id, 1, 1, 'lantern', 'p', '1', 'm' FROM sessions;"
            "INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload)"
            " SELECT tenant_id, slice_id, agent_id, 'session.completed', '{}' FROM sessions;"
            "INSERT INTO recalls (tenant_id, chunk_id, slice_id, query_hash, score, source, at)"
            " SELECT tenant_id, chunk_id, slice_id, '\\x00', 1, 'search', now() FROM chunks;"
            "INSERT INTO model_calls SELECT DISTINCT tenant_id, current_date, 1 FROM slices;"
            "INSERT INTO model_outcomes SELECT DISTINCT tenant_id, current_date, 'answered', 1, now() FROM slices"
        )


async def slices_of(connection: psycopg.AsyncConnection, table: str) -> set[tuple[str, int]]:
    """What `SELECT *` without any predicate shows."""
    cursor = await connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))
    return {(row["tenant_id"], row["slice_id"]) for row in await cursor.fetchall()}  # type: ignore[call-overload]


@pytest.mark.usefixtures("filled")
async def test_a_statement_without_predicates_sees_the_visible_slices_only(database: Database) -> None:
    async with database.tenant("acme", snapshot=True) as connection:
        for table in OF_A_SLICE:
            assert (table, await slices_of(connection, table)) == (table, set())
        visible = await visible_slices(connection, "acme", "wren", "user:ada")
        assert {(s.agent_id, s.owner_key) for s in visible} == {("wren", "user:ada"), ("wren", None)}
        for table in OF_A_SLICE:
            assert (table, await slices_of(connection, table)) == (table, {("acme", s.slice_id) for s in visible})


@pytest.mark.usefixtures("filled")
async def test_all_owners_are_those_of_one_agent_of_one_tenant(database: Database) -> None:
    async with database.tenant("acme", snapshot=True) as connection:
        visible = await visible_slices(connection, "acme", "wren", ALL_OWNERS)
        assert {(s.agent_id, s.owner_key) for s in visible} == {
            ("wren", None),
            ("wren", "user:ada"),
            ("wren", "user:bo"),
        }
        for table in OF_A_SLICE:
            assert (table, await slices_of(connection, table)) == (table, {("acme", s.slice_id) for s in visible})


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("table", ["agents", "slices", "embedding_cache", "model_calls", "model_outcomes"])
async def test_rows_of_a_tenant_are_seen_by_no_other(database: Database, table: str) -> None:
    for tenant_id in ("acme", "umbra", "nobody", ""):
        async with database.tenant(tenant_id, snapshot=True) as connection:
            await visible_slices(connection, tenant_id, "wren", "user:ada")
            cursor = await connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))
            seen = {row["tenant_id"] for row in await cursor.fetchall()}
        assert seen == ({tenant_id} if tenant_id in ("acme", "umbra") else set())


@pytest.mark.usefixtures("filled")
async def test_what_one_transaction_opened_is_closed_to_the_next(conninfo: str) -> None:
    """With one connection, nothing of a tenant stays behind in it: not the tenant, the slices or the role."""
    async with Database(conninfo, pool_size=1) as database:
        async with database.tenant("acme") as connection:
            await visible_slices(connection, "acme", "wren", "user:ada")
        async with database.tenant("umbra") as connection:
            for table in OF_A_SLICE:
                assert await slices_of(connection, table) == set()
        with pytest.raises(ValidationFailed):
            await _fail_inside(database)
        async with database.maintenance() as connection:
            row = await (
                await connection.execute(
                    "SELECT current_user::text AS role, current_setting('reverie.tenant', true) AS tenant,"
                    " current_setting('reverie.slices', true) AS slices"
                )
            ).fetchone()
            assert row is not None
            assert (row["role"] == "reverie_app", row["tenant"] or "", row["slices"] or "") == (False, "", "")


async def _fail_inside(database: Database) -> None:
    async with database.tenant("acme") as connection:
        await visible_slices(connection, "acme", "wren", "user:ada")
        await connection.execute("SELECT 1 / 0")


@pytest.mark.usefixtures("filled")
async def test_a_write_beyond_the_tenant_is_refused(database: Database, subtests: pytest.Subtests) -> None:
    refusals: tuple[type[psycopg.Error], ...] = (psycopg.errors.InsufficientPrivilege,)
    if os.environ.get("REVERIE_TEST_ON_NODES"):
        # Citus moves no row to another tenant, and copies none into a table with row-level security.
        refusals = (*refusals, psycopg.errors.FeatureNotSupported)
    for statement in BEYOND:
        async with database.tenant("acme") as connection:
            await visible_slices(connection, "acme", "wren", "user:ada")
            with subtests.test(statement), pytest.raises(refusals):
                await connection.execute(statement)  # type: ignore[arg-type]
            await connection.rollback()


@pytest.mark.usefixtures("filled")
async def test_a_change_without_predicates_touches_the_visible_slices_only(database: Database, conninfo: str) -> None:
    count = "SELECT tenant_id, slice_id, count(*) FROM {} GROUP BY 1, 2 ORDER BY 1, 2"
    with psycopg.connect(conninfo) as admin:
        before = {t: admin.execute(count.format(t)).fetchall() for t in OF_A_SLICE}  # type: ignore[arg-type]
    async with database.tenant("acme") as connection:
        visible = {s.slice_id for s in await visible_slices(connection, "acme", "wren", "user:ada")}
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        # Not only the settings' maintenance word, but the role opens what upkeep sees.
        await connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        for table in ("tombstones", "postings", "vectors", *reversed(SPOKEN), "chunks", "versions", "documents"):
            await connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    with psycopg.connect(conninfo) as admin:
        after = {t: admin.execute(count.format(t)).fetchall() for t in OF_A_SLICE}  # type: ignore[arg-type]
    for table in OF_A_SLICE:
        assert after[table] == [row for row in before[table] if (row[0], row[1]) not in {("acme", s) for s in visible}]


@pytest.mark.usefixtures("filled")
async def test_a_promoted_slice_is_as_closed_as_before(database: Database) -> None:
    """A partition has no policies of its own: it must not be readable but through the table."""
    assert await vectors.promote_large_slices(database, exact_max_chunks=0, max_partitions=100) > 3
    async with database.tenant("acme") as connection:
        assert await slices_of(connection, "vectors") == set()
        visible = await visible_slices(connection, "acme", "wren", "user:ada")
        assert await slices_of(connection, "vectors") == {("acme", s.slice_id) for s in visible}
        table = sql.Identifier(f"vectors_{visible[0].partition_id}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute(sql.SQL("SELECT * FROM {}").format(table))
        await connection.rollback()


@pytest.mark.usefixtures("filled")
async def test_search_finds_nothing_of_another_owner_agent_or_tenant(search: Search) -> None:
    async def texts(tenant_id: str, agent_id: str, owner_key: str | None) -> set[str]:
        request = SearchRequest(tenant_id, agent_id, "lantern", owner_key, max_results=100, path_prefix="notes/")
        return {result.text for result in (await search.search(request)).results}

    assert await texts("acme", "wren", "user:ada") == {
        "the lantern of acme wren user:ada",
        "the lantern of acme wren None",
    }
    assert await texts("acme", "wren", None) == {"the lantern of acme wren None"}
    assert await texts("acme", "finch", "user:ada") == {"the lantern of acme finch None"}
    assert await texts("umbra", "wren", "user:bo") == {"the lantern of umbra wren None"}


def _admin(conninfo: str, *statements: sql.Composable) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def own_database(server_conninfo: str) -> Iterator[tuple[str, str]]:
    """An empty database that belongs to a login of its own name, without any special right; and that name."""
    name = f"own_{secrets.token_hex(6)}"
    password = secrets.token_hex(8)
    identifier = sql.Identifier(name)
    with psycopg.connect(server_conninfo, autocommit=True) as admin:
        # Roles belong to the cluster, which the workers of a test run share: one at a time.
        admin.execute("SELECT pg_advisory_lock(20261121)")
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(identifier, sql.Literal(password)))
        admin.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(identifier, identifier))
        yield pg_conninfo.make_conninfo(server_conninfo, dbname=name, user=name, password=password), name
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifier))
        admin.execute(sql.SQL("DROP ROLE {}").format(identifier))


def _operator_prepares(server_conninfo: str, name: str) -> None:
    """What `doctor` tells an operator to run."""
    inside = pg_conninfo.make_conninfo(server_conninfo, dbname=name)
    _admin(inside, sql.SQL("CREATE EXTENSION IF NOT EXISTS vector"))
    _admin(
        inside,
        sql.SQL(
            "DO $$ BEGIN CREATE ROLE reverie_app NOLOGIN NOBYPASSRLS;"
            " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
        ),
        sql.SQL("GRANT reverie_app TO {}").format(sql.Identifier(name)),
    )


@pytest.fixture
async def owned(own_database: tuple[str, str], server_conninfo: str) -> AsyncIterator[tuple[str, Database]]:
    conninfo, name = own_database
    _operator_prepares(server_conninfo, name)
    await prepare_database(conninfo)
    async with Database(conninfo, pool_size=4) as database:
        yield conninfo, database


async def test_everything_works_on_a_database_owned_by_an_ordinary_login(owned: tuple[str, Database]) -> None:
    """Writes, search, back-fill, promotion and migration, where forced row-level security holds for the owner too."""
    conninfo, database = owned
    embedder = MoodyEmbedder(64, down=True)
    slot = await filled_slot(database, embedder)
    pipeline = Pipeline(database, slot, Rules())
    for place in PLACES:
        text = "\n\n".join(f"the lantern {number} of {place.tenant_id}" for number in range(4))
        assert not (await pipeline.write(place, put(text))).embedded
    embedder.down = False
    while await pipeline.backfill():
        pass
    assert_index_consistent(conninfo)
    assert await vectors.promote_large_slices(database, exact_max_chunks=3, max_partitions=3) == 3
    await pipeline.write(ADA, put("a lantern after promotion\n\nthe lantern 2 of acme\n"))
    await pipeline.delete(BO, "notes/a.md", by="user", reason="delete")
    assert_index_consistent(conninfo)
    new = await filled_slot(database, MoodyEmbedder(32), check_active=False)
    assert new.ready
    await migrate(database, new.ready)
    search = Search(database, new, SearchRules())
    outcome = await search.search(SearchRequest("acme", "wren", "lantern promotion", "user:ada", path_prefix="notes/"))
    assert outcome.mode == "hybrid"
    assert outcome.results[0].text == "a lantern after promotion"
    assert outcome.results[0].similarity is not None
    assert_index_consistent(conninfo)


async def test_the_owner_itself_sees_nothing_unless_it_says_maintenance(owned: tuple[str, Database]) -> None:
    conninfo, database = owned
    slot = await filled_slot(database, MoodyEmbedder())
    await Pipeline(database, slot, Rules()).write(ADA, put("secret"))
    async with await psycopg.AsyncConnection.connect(conninfo) as connection:
        for table in OF_A_SLICE:
            cursor = await connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table)))
            assert await cursor.fetchone() == (0,), table


async def test_a_login_without_the_operators_part_is_told_what_to_run(own_database: tuple[str, str]) -> None:
    conninfo, _ = own_database
    with pytest.raises(SetupError) as caught:
        await prepare_database(conninfo)
    for statement in ("CREATE EXTENSION IF NOT EXISTS vector", "CREATE ROLE reverie_app", "GRANT reverie_app TO"):
        assert statement in caught.value.detail


async def test_what_an_operator_is_told_to_run_is_enough_also_in_somebody_elses_database(
    own_database: tuple[str, str], server_conninfo: str
) -> None:
    """Since PostgreSQL 15 only the owner of a database may make tables in its schema public."""
    conninfo, name = own_database
    inside = pg_conninfo.make_conninfo(server_conninfo, dbname=name)
    _admin(inside, sql.SQL("ALTER DATABASE {} OWNER TO CURRENT_USER").format(sql.Identifier(name)))
    _operator_prepares(server_conninfo, name)
    with pytest.raises(SetupError) as caught:
        await prepare_database(conninfo)
    told = caught.value.detail.partition("\n")[2].replace("<the role of REVERIE_DATABASE_URL>", name)
    with psycopg.connect(inside, autocommit=True) as connection:
        for statement in told.split(";\n"):
            # An operator's client goes on where the role is there already.
            with suppress(psycopg.errors.DuplicateObject):
                connection.execute(statement.encode())
    await prepare_database(conninfo)


async def test_a_login_that_is_no_member_of_the_role_is_told_so_at_start(
    own_database: tuple[str, str], server_conninfo: str
) -> None:
    """Also where the schema is there already, such as after a restore: not by errors of every request."""
    conninfo, name = own_database
    _operator_prepares(server_conninfo, name)
    await prepare_database(conninfo)
    _admin(server_conninfo, sql.SQL("REVOKE reverie_app FROM {}").format(sql.Identifier(name)))
    with pytest.raises(SetupError, match="GRANT reverie_app TO"):
        await prepare_database(conninfo)


@pytest.mark.usefixtures("template_database")  # the role is there
async def test_a_login_that_may_create_roles_sets_itself_up(
    own_database: tuple[str, str], server_conninfo: str
) -> None:
    """Whoever creates a role is its administrator, but since PostgreSQL 16 may not become it without a grant."""
    conninfo, name = own_database
    _admin(
        pg_conninfo.make_conninfo(server_conninfo, dbname=name),
        sql.SQL("CREATE EXTENSION IF NOT EXISTS vector"),
        sql.SQL("GRANT reverie_app TO {} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE").format(sql.Identifier(name)),
    )
    await prepare_database(conninfo)
    async with Database(conninfo, pool_size=1) as database, database.tenant("acme") as connection:
        row = await (await connection.execute("SELECT current_user::text AS role")).fetchone()
        assert row == {"role": "reverie_app"}
