"""What a rewrite keeps, moves and removes, row by row."""

from __future__ import annotations

import psycopg
import pytest
from psycopg.rows import namedtuple_row
from tests.consistency import assert_index_consistent, contradictions

from reverie_indexer.change import Change, overwrite
from reverie_indexer.errors import NotFound, StaleVersion
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace
from reverie_server.search.request import SearchRequest
from reverie_server.search.search import Search

TEAM = Place("default", "wren", "team")
PERSONAL = Place("default", "wren", "personal", "user:1")
PRINCIPAL = Principal("default", "wren", None)


def put(text: str, path: str = "notes/a.md") -> Change:
    return overwrite(path, text, by="user", reason="put")


def chunk_ids(conninfo: str, path: str = "notes/a.md") -> dict[str, int]:
    """Text to id of a file's chunks, in their order."""
    with psycopg.connect(conninfo, row_factory=namedtuple_row) as connection:
        rows = connection.execute(
            "SELECT c.text, c.chunk_id FROM chunks c JOIN documents d USING (tenant_id, document_id)"
            " WHERE d.path = %s AND c.valid_to IS NULL ORDER BY c.ordinal",
            (path,),
        ).fetchall()
    return {row.text: row.chunk_id for row in rows}


def versions_of_rows(conninfo: str, table: str) -> set[tuple[str, str]]:
    """Address and transaction of every row: equal before and after means that nothing was written."""
    with psycopg.connect(conninfo) as connection:
        return {
            (str(row[0]), str(row[1]))
            for row in connection.execute(f"SELECT ctid, xmin FROM {table}").fetchall()  # type: ignore[arg-type]
        }


async def test_an_edit_keeps_the_ids_of_all_other_passages(pipeline: Pipeline, conninfo: str) -> None:
    await pipeline.write(TEAM, put("one\n\ntwo\n\nthree\n\nfour\n"))
    before = chunk_ids(conninfo)
    await pipeline.write(TEAM, put("zero\n\none\n\nTWO!\n\nfour\n\nthree\n"))
    after = chunk_ids(conninfo)
    assert list(after) == ["zero", "one", "TWO!", "four", "three"]
    assert {text: after[text] for text in ("one", "three", "four")} == {t: before[t] for t in ("one", "three", "four")}
    assert not {after["zero"], after["TWO!"]} & set(before.values())
    assert_index_consistent(conninfo)


async def test_an_edit_touches_no_posting_or_vector_of_other_passages(pipeline: Pipeline, conninfo: str) -> None:
    await pipeline.write(TEAM, put("one lantern\n\ntwo\n\nthree\n"))
    before = {table: versions_of_rows(conninfo, table) for table in ("postings", "vectors")}
    await pipeline.write(TEAM, put("new\n\none lantern\n\ntwo\n\nthree\n"))
    for table, rows in before.items():
        assert rows < versions_of_rows(conninfo, table)


async def test_the_same_text_again_writes_nothing(pipeline: Pipeline, conninfo: str) -> None:
    tables = ("documents", "versions", "chunks", "postings", "vectors", "embedding_cache")
    first = await pipeline.write(TEAM, put("one\n\ntwo\n"))
    before = {table: versions_of_rows(conninfo, table) for table in tables}
    second = await pipeline.write(TEAM, put("one\n\ntwo\n"))
    assert (second.version, second.created, second.embedded) == (first.version, False, True)
    assert {table: versions_of_rows(conninfo, table) for table in tables} == before


@pytest.mark.parametrize(
    "texts",
    [
        ["same\n\nsame\n\nsame\n", "same\n\nother\n\nsame\n", "other\n\nsame\n\nsame\n\nsame\n\nsame\n"],
        ["a\n\nb\n\nc\n", "c\n\nb\n\na\n", "b\n\na\n"],
        ["", "text", "", "\n\n \n"],
        ["# H\n\nx\n", "# G\n\nx\n", "# G\n\n## H\n\nx\n"],
        ["💡 " * 600, "漢字" * 900, "\r\none\r\n\r\ntwo\r\n", "\u2028\x0b one \x85 two"],
        ["| a | b |\n|---|---|\n| 1 | 2 |\n", "```py\nx = 1\n```\n\n- a\n  - b\n"],
        ["word " * 3000, "word " * 2999 + "end", "x" * 5000],
    ],
    ids=["duplicates", "reversed", "empty", "headings", "scripts", "blocks", "long"],
)
async def test_every_rewrite_leaves_the_index_of_the_present_text(
    pipeline: Pipeline, conninfo: str, texts: list[str]
) -> None:
    for text in [*texts, *reversed(texts)]:
        await pipeline.write(TEAM, put(text))
        assert_index_consistent(conninfo)


async def test_a_deleted_file_leaves_history_and_nothing_to_find(
    pipeline: Pipeline, workspace: Workspace, search: Search, conninfo: str
) -> None:
    await pipeline.write(TEAM, put("the lantern"))
    assert await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete") == 2
    assert chunk_ids(conninfo) == {}
    assert not (await search.search(SearchRequest("default", "wren", "lantern", path_prefix="notes/"))).results
    with pytest.raises(NotFound):
        await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete")
    assert_index_consistent(conninfo)
    written = await pipeline.write(TEAM, put("the lantern"))
    assert (written.created, written.version) == (True, 3)
    _, versions = await workspace.history(PRINCIPAL, "notes/a.md", None, before=None, limit=9)
    assert [(v.version, v.deleted) for v in versions] == [(3, False), (2, True), (1, False)]
    assert_index_consistent(conninfo)


async def test_deletions_and_writes_with_a_version_obey_it(pipeline: Pipeline) -> None:
    await pipeline.write(TEAM, put("one"))
    with pytest.raises(StaleVersion):
        await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete", if_version=2)
    await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete", if_version=1)
    for if_version in (0, 1, 2):
        with pytest.raises(StaleVersion):
            await pipeline.write(TEAM, Change("notes/a.md", lambda text: "x", "user", "r", if_version=if_version))


async def test_one_path_in_three_scopes_is_three_files(pipeline: Pipeline, workspace: Workspace, conninfo: str) -> None:
    for place in (TEAM, PERSONAL, Place("default", "wren", "global")):
        await pipeline.write(place, put(f"the {place.scope} lantern"))
    assert_index_consistent(conninfo)
    await pipeline.delete(PERSONAL, "notes/a.md", by="user", reason="delete")
    principal = Principal("default", "wren", "user:1")
    assert (await workspace.read(principal, "notes/a.md")).content == "the team lantern"
    await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete")
    assert (await workspace.read(principal, "notes/a.md")).content == "the global lantern"
    assert_index_consistent(conninfo)


async def test_a_file_that_is_not_searched_has_no_chunks(pipeline: Pipeline, conninfo: str) -> None:
    written = await pipeline.write(TEAM, put('{"lantern": 1}', "data/a.json"))
    assert (written.chunk_count, written.embedded, chunk_ids(conninfo, "data/a.json")) == (0, True, {})
    assert_index_consistent(conninfo)


async def test_the_check_of_the_index_notices_every_kind_of_damage(pipeline: Pipeline, conninfo: str) -> None:
    """The check is only worth something if it can fail."""
    await pipeline.write(TEAM, put("one lantern\n\ntwo lanterns\n"))
    damage = [
        "DELETE FROM postings WHERE term = 'lantern' AND chunk_id = (SELECT max(chunk_id) FROM chunks)",
        "UPDATE postings SET tf = tf + 1 WHERE chunk_id = (SELECT min(chunk_id) FROM postings)",
        "DELETE FROM vectors WHERE chunk_id = (SELECT min(chunk_id) FROM vectors)",
        "UPDATE chunks SET embedded = false WHERE chunk_id = (SELECT min(chunk_id) FROM chunks)",
        "UPDATE chunks SET ordinal = ordinal + 1",
        "UPDATE slices SET chunk_count = chunk_count + 1",
        "UPDATE slices SET term_total = term_total - 1",
        "DELETE FROM chunks WHERE chunk_id = (SELECT max(chunk_id) FROM chunks)",
        "UPDATE documents SET version = version + 1",
        "UPDATE versions SET content = content || '!'",
        "UPDATE embedding_cache SET embedding = embedding + embedding",
        "INSERT INTO chunks OVERRIDING SYSTEM VALUE SELECT tenant_id, 999, slice_id, tier, document_id, ordinal,"
        " start_line, end_line, char_start, char_end, heading_path, text, context, passage_sha256, terms, term_count,"
        " embedded, embed_error FROM chunks LIMIT 1",
    ]
    assert_index_consistent(conninfo)
    for statement in damage:
        with psycopg.connect(conninfo) as connection:
            connection.execute(statement)  # type: ignore[arg-type]
            assert contradictions(connection), statement
            connection.rollback()
