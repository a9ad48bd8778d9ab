"""Each statement says of each table of tenants which tenant it is about: on several nodes that is where the rows are.

Without a parser: a statement has as many equalities on `tenant_id` as it names tables of tenants, and the parameter is
in it. (Of joined tables each but one is joined by its tenant, and that one has the caller's.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from reverie_indexer.database.queries import Queries
from reverie_indexer.resources import read_resource

ROOT = Path(__file__).parents[2]

# Those that are about all tenants, by file and name. Each is upkeep or a report of the operator's; none is on the path
# of a request. Across nodes a statement that only reads asks every node; one that writes changes every node.
READ_EVERY_TENANT = {
    "indexer/reverie_indexer/database/damage.sql": {"lost_rows"},
    "indexer/reverie_indexer/index/vectors.sql": {
        "chunks_to_embed",
        "any_to_embed",
        "chunks_without",
        "slices_to_promote",
        "count_partitions",
        "own_partitions",
    },
    "server/reverie_server/app/backups/backup.sql": {"has_memory", "sample"},
    "server/reverie_server/app/backups/forget_again.sql": {"agents", "owners", "sessions", "episodes", "memories"},
    "server/reverie_server/episodes/store.sql": {"expired", "to_remake"},
    "server/reverie_server/files/retention.sql": {"keepers"},
    "server/reverie_server/jobs/schedule.sql": {"zones"},
    "server/reverie_server/llm/outcomes.sql": {"totals", "most_calls"},
    "server/reverie_server/search/calibration/store.sql": {"due", "counts"},
    "server/reverie_server/search/hot/cache.sql": {"revisions"},
    "server/reverie_server/sessions/completion.sql": {"idle"},
}
WRITE_EVERY_TENANT = {
    "indexer/reverie_indexer/index/vectors.sql": {
        "prune_cache",
        "next_revisions",
        "remark_embedded",
        "remove_other_vectors",
    },
    "server/reverie_server/access/audit.sql": {"prune"},
    "server/reverie_server/jobs/queue.sql": {"prune_events"},
    "server/reverie_server/jobs/schedule.sql": {"emergence", "compaction"},
    "server/reverie_server/nights/reports.sql": {"trim"},
    "server/reverie_server/prompt/turn_log.sql": {"prune", "prune_removed"},
    "server/reverie_server/search/calibration/store.sql": {"forget_nearness", "remove_empty"},
}


def _tables() -> set[str]:
    found = re.findall(
        r"^CREATE TABLE IF NOT EXISTS (\w+) \(\n\s+tenant_id ", read_resource("schema.sql"), re.MULTILINE
    )
    return {*found, "vectors_0"}


def _statements() -> Iterator[tuple[str, str, str]]:
    """The file, the name and the text of each statement, without its comments."""
    for package in ("indexer", "server"):
        for path in sorted((ROOT / package).rglob("*.sql")):
            for name, text in Queries(str(path)).items():
                yield str(path.relative_to(ROOT)), name, re.sub(r"--.*", "", text.decode())


def is_of_one_tenant(statement: str, tables: set[str]) -> bool:
    """Whether a statement says of each table of tenants that it names which tenant it is about."""
    names = "|".join(sorted(tables))
    named = re.findall(
        rf"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(?:{names})\b|,\s+(?:{names})\s+(?:AS\s+)?[a-z]\b(?!\.)", statement
    )
    said = re.findall(
        r"\btenant_id\s*(?:=|IS NOT DISTINCT FROM)|\bUSING \(tenant_id\b|\bINTO \w+(?: AS \w+)?\s*\(tenant_id\b",
        statement,
    )
    return not named or (len(said) >= len(named) and "%(tenant_id)s" in statement)


def sub_queries(statement: str) -> Iterator[str]:
    """The texts of the sub-queries of a statement, in their parentheses."""
    for found in re.finditer(r"\(\s*SELECT\b", statement):
        depth = 0
        for place in range(found.start(), len(statement)):
            depth += (statement[place] == "(") - (statement[place] == ")")
            if depth == 0:
                yield statement[found.start() : place + 1]
                break


def has_inherited_tenant(statement: str, tables: set[str]) -> bool:
    """Whether a sub-query takes the tenant of its tables from the query around it, which Citus does not see through."""
    names = "|".join(sorted(tables))
    return any(
        re.search(rf"\b(?:FROM|JOIN)\s+(?:{names})\b", text) is not None and "%(tenant_id)s" not in text
        for text in sub_queries(statement)
    )


def copied_rows(statement: str, tables: set[str]) -> list[str]:
    """The tables of tenants that a statement selects rows into without RETURNING or ON CONFLICT: Citus copies such rows
    to the node, which row-level security refuses."""
    inserts = re.split(r"(?=\bINSERT INTO \w)", statement)[1:]
    plain = [text for text in inserts if not re.search(r"\bVALUES\s*\(|\bRETURNING\b|\bON CONFLICT\b", text)]
    return [table for text in plain if (table := text.split()[2]) in tables]


def test_rows_that_are_selected_into_a_table_are_returned_or_may_conflict() -> None:
    tables = _tables()
    assert copied_rows("INSERT INTO facts (a) SELECT 1", tables) == ["facts"]
    assert (
        copied_rows("WITH a AS (INSERT INTO facts (a) SELECT 1 RETURNING 1) INSERT INTO models SELECT 1", tables) == []
    )
    assert {(path, name): found for path, name, text in _statements() if (found := copied_rows(text, tables))} == {}


def test_a_sub_query_says_its_tenant_itself() -> None:
    tables = _tables()
    around = "SELECT 1 FROM facts f WHERE f.tenant_id = %(tenant_id)s AND "
    around += "EXISTS (SELECT FROM chunks c WHERE c.tenant_id = {})"
    assert has_inherited_tenant(around.format("f.tenant_id"), tables)
    assert not has_inherited_tenant(around.format("%(tenant_id)s"), tables)
    inherits = {
        (path, name)
        for path, name, text in _statements()
        if is_of_one_tenant(text, tables) and has_inherited_tenant(text, tables)
    }
    # Its sub-query begins with the sources of a row of the query around it.
    assert inherits == {("server/reverie_server/extraction/store.sql", "said_at")}


def test_a_table_without_its_tenant_is_seen() -> None:
    tables = {"facts", "chunks"}
    assert is_of_one_tenant("SELECT 1 FROM facts WHERE tenant_id = %(tenant_id)s", tables)
    assert is_of_one_tenant("SELECT 1 FROM models", tables)
    joined = "SELECT 1 FROM facts f JOIN chunks c ON c.chunk_id = f.chunk_id{} WHERE f.tenant_id = %(tenant_id)s"
    assert is_of_one_tenant(joined.format(" AND c.tenant_id = f.tenant_id"), tables)
    assert not is_of_one_tenant(joined.format(""), tables)
    assert not is_of_one_tenant("SELECT 1 FROM facts", tables)
    assert not is_of_one_tenant("DELETE FROM facts f USING chunks c WHERE f.tenant_id = c.tenant_id", tables)
    assert not is_of_one_tenant("SELECT 1 FROM facts f, chunks c WHERE f.tenant_id = %(tenant_id)s", tables)


def test_each_statement_is_of_one_tenant_or_known_to_be_of_all() -> None:
    tables = _tables()
    assert {"agents", "chunks", "vectors", "audit"} <= tables
    found: dict[str, set[str]] = {}
    for path, name, text in _statements():
        if not is_of_one_tenant(text, tables):
            found.setdefault(path, set()).add(name)
    known: dict[str, set[str]] = {}
    for listed in (READ_EVERY_TENANT, WRITE_EVERY_TENANT):
        for path, names in listed.items():
            known[path] = known.get(path, set()) | names
    assert found == known
