"""Keyword search over files: what a reader sees, which files count, and how many."""

from __future__ import annotations

import asyncio
import re
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound, ValidationFailed
from reverie_indexer.model import Place, Scope
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.principal import Principal
from reverie_server.files import keyword_search as keyword_module
from reverie_server.files.files import Workspace
from reverie_server.files.keyword_match import hits_of, patterns_of, terms_of
from reverie_server.files.keyword_search import MAX_FILES, KeywordSearch

TEAM = Place("default", "wren", "team")
GLOBAL = Place("default", "wren", "global")
ADA = Place("default", "wren", "personal", "user:ada")
BEN = Place("default", "wren", "personal", "user:ben")
AS_ADA = Principal("default", "wren", "user:ada")
AS_TEAM = Principal("default", "wren", None)


@pytest.fixture
def keywords(database: Database) -> KeywordSearch:
    return KeywordSearch(database)


async def put(pipeline: Pipeline, place: Place, **texts: str) -> None:
    changes = [
        overwrite(path.replace("__", "/") + ".md", text, by="test", reason="test") for path, text in texts.items()
    ]
    await pipeline.write_many(place, changes)


async def found(keywords: KeywordSearch, principal: Principal, query: str, scope: Scope | None = None) -> list[str]:
    """What was found, as the path and the line without its marks."""
    outcome = await keywords.search(principal, query, scope=scope, limit=500)
    return [f"{hit.path}: {re.sub(r'[][]', '', hit.snippet)}" for hit in outcome.hits]


class TestVisibility:
    async def test_a_reader_sees_its_own_the_teams_and_the_tenants(
        self, keywords: KeywordSearch, pipeline: Pipeline
    ) -> None:
        await put(pipeline, ADA, a="tea of Ada")
        await put(pipeline, BEN, b="tea of Ben")
        await put(pipeline, TEAM, t="tea of the team")
        await put(pipeline, GLOBAL, g="tea of all")
        await put(pipeline, Place("other", "wren", "team"), o="tea of another tenant")
        await put(pipeline, Place("default", "crow", "team"), c="tea of another agent")
        assert await found(keywords, AS_ADA, "tea") == ["a.md: tea of Ada", "g.md: tea of all", "t.md: tea of the team"]
        assert await found(keywords, AS_TEAM, "tea") == ["g.md: tea of all", "t.md: tea of the team"]
        assert await found(keywords, AS_ADA, "tea", "personal") == ["a.md: tea of Ada"]
        assert await found(keywords, AS_ADA, "tea", "team") == ["t.md: tea of the team"]
        assert await found(keywords, AS_ADA, "tea", "global") == ["g.md: tea of all"]

    async def test_of_a_path_the_copy_that_a_read_would_give(self, keywords: KeywordSearch, pipeline: Pipeline) -> None:
        await put(pipeline, ADA, plan="tea of Ada")
        await put(pipeline, TEAM, plan="tea of the team, at noon")
        await put(pipeline, GLOBAL, plan="tea of all")
        assert await found(keywords, AS_ADA, "tea") == ["plan.md: tea of Ada"]
        assert await found(keywords, AS_TEAM, "tea") == ["plan.md: tea of the team, at noon"]
        assert await found(keywords, AS_ADA, "noon") == [], "the team's copy is hidden, whether Ada's matches or not"
        assert await found(keywords, AS_ADA, "noon", "team") == ["plan.md: tea of the team, at noon"]

    async def test_a_deleted_copy_hides_nothing(
        self, keywords: KeywordSearch, pipeline: Pipeline, workspace: Workspace
    ) -> None:
        await put(pipeline, ADA, plan="tea of Ada")
        await put(pipeline, TEAM, plan="tea of the team")
        await workspace.delete(ADA, "plan.md", by="test", if_version=None)
        assert await found(keywords, AS_ADA, "tea") == ["plan.md: tea of the team"]

    async def test_only_the_present_text_is_searched(self, keywords: KeywordSearch, pipeline: Pipeline) -> None:
        await put(pipeline, TEAM, plan="tea in the old version")
        await put(pipeline, TEAM, plan="coffee in the new one")
        assert await found(keywords, AS_TEAM, "tea coffee") == ["plan.md: coffee in the new one"]

    async def test_a_personal_memory_under_its_other_name_hides_the_shared_one(
        self, keywords: KeywordSearch, pipeline: Pipeline
    ) -> None:
        await put(pipeline, ADA, memory="tea of Ada")
        await put(pipeline, TEAM, MEMORY="tea of the team")
        assert await found(keywords, AS_ADA, "tea") == ["memory.md: tea of Ada"]
        await put(pipeline, ADA, MEMORY="tea of Ada, too")
        assert await found(keywords, AS_ADA, "tea") == ["MEMORY.md: tea of Ada, too", "memory.md: tea of Ada"]

    async def test_a_member_sees_its_own_first_and_then_what_its_leader_shares(
        self, keywords: KeywordSearch, pipeline: Pipeline
    ) -> None:
        lead = Place("default", "lead", "team")
        await put(pipeline, lead, plan="tea of the lead", MEMORY="tea in the memory of the lead", own="tea, hidden")
        await put(pipeline, Place("default", "lead", "personal", "user:ada"), secret="tea of Ada and the lead")
        await put(pipeline, GLOBAL, all="tea of all")
        await put(pipeline, TEAM, own="coffee of the member", mine="tea of the member")
        member = Principal("default", "wren", "user:ada", "lead")
        # Agents get their seeds with their first write: the member's own MEMORY.md hides the leader's.
        own = ["all.md: tea of all", "mine.md: tea of the member"]
        assert await found(keywords, member, "tea") == [*own, "plan.md: tea of the lead"]
        assert await found(keywords, member, "tea", "team") == [
            "mine.md: tea of the member",
            "plan.md: tea of the lead",
        ]
        assert await found(keywords, member, "tea", "global") == ["all.md: tea of all"]
        assert await found(keywords, member, "tea", "personal") == []

    async def test_backups_and_other_kinds_of_files_are_left_out_and_system_files_are_not(
        self, keywords: KeywordSearch, pipeline: Pipeline
    ) -> None:
        for path in ("MEMORY_backup_2026-04-03_02-00-00.md", "_system/dreaming/20260403-consolidated.md", "a.txt",
                     "notes/MEMORY_backup_2026-04-03_02-00-00.md"):  # fmt: skip
            await pipeline.write(TEAM, Change(path, lambda _: "tea", "test", "test", overwrites=True, reserved=True))
        assert await found(keywords, AS_TEAM, "tea") == [
            "_system/dreaming/20260403-consolidated.md: tea",
            "notes/MEMORY_backup_2026-04-03_02-00-00.md: tea",
        ]

    async def test_who_is_unknown_is_not_found_and_whose_is_unclear_is_refused(
        self, keywords: KeywordSearch, pipeline: Pipeline
    ) -> None:
        await put(pipeline, GLOBAL, g="tea")
        with pytest.raises(NotFound):
            await keywords.search(Principal("default", "nobody", None), "tea")
        with pytest.raises(ValidationFailed):
            await keywords.search(AS_TEAM, "tea", scope="personal")


class TestBounds:
    async def test_of_many_files_the_50_with_the_best_lines(self, keywords: KeywordSearch, pipeline: Pipeline) -> None:
        # One in three holds both words on one line; all promise it, since all hold both somewhere.
        texts = {f"n{n:03}": "tea and coffee\n" if n % 3 == 0 else "tea\ncoffee\n" for n in range(150)}
        await put(pipeline, TEAM, **texts, memory__a="tea\ncoffee\n", z="teapot and coffees\n")
        outcome = await keywords.search(AS_TEAM, "coffee tea", limit=500)
        paths = list(dict.fromkeys(hit.path for hit in outcome.hits))
        assert len(paths) == MAX_FILES
        assert paths[:49] == [f"n{n:03}.md" for n in range(0, 147, 3)]
        assert outcome.total_hits == len(outcome.hits)

    async def test_ties_go_by_path_to_the_last_file(self, keywords: KeywordSearch, pipeline: Pipeline) -> None:
        await put(pipeline, TEAM, **{f"n{n:03}": "tea\n" * 7 for n in range(70)})
        outcome = await keywords.search(AS_TEAM, "tea", limit=500)
        expected = [(f"n{n:03}.md", line) for n in range(50) for line in range(1, 6)]
        assert [(hit.path, hit.line) for hit in outcome.hits] == expected
        assert outcome.total_hits == 250

    async def test_a_weight_counts_for_which_files_are_searched(
        self, keywords: KeywordSearch, pipeline: Pipeline
    ) -> None:
        await put(pipeline, TEAM, **{f"n{n:03}": "tea\n" for n in range(60)}, memory__z="tea\n", PROFILE="tea\n")
        outcome = await keywords.search(AS_TEAM, "tea")
        assert [hit.path for hit in outcome.hits[:3]] == ["PROFILE.md", "memory/z.md", "n000.md"]
        assert (len(outcome.hits), outcome.total_hits) == (10, 50)

    async def test_a_query_of_thousands_of_words_is_answered(self, keywords: KeywordSearch, pipeline: Pipeline) -> None:
        await put(pipeline, TEAM, a="w7 w8\n", b="x\n")
        query = " ".join(f"w{n}" for n in range(1500))
        outcome = await keywords.search(AS_TEAM, query)
        assert [(hit.path, hit.score) for hit in outcome.hits] == [("a.md", 1.0)]
        chinese = "".join(chr(0x4E00 + n) for n in range(7000))
        await put(pipeline, TEAM, c="丁七\n")
        assert [hit.snippet for hit in (await keywords.search(AS_TEAM, f"丁七{chinese}")).hits] == ["[[丁七]]"]

    async def test_matching_does_not_run_in_the_event_loop(
        self, keywords: KeywordSearch, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        threads: list[int] = []
        monkeypatch.setattr(
            keyword_module, "hits_of", lambda *given: threads.append(threading.get_ident()) or hits_of(*given)
        )
        await put(pipeline, TEAM, a="tea\n")
        assert (await keywords.search(AS_TEAM, "tea")).total_hits == 1
        assert threads
        assert threading.get_ident() not in threads

    async def test_not_all_texts_are_fetched_at_once(
        self, keywords: KeywordSearch, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await put(pipeline, TEAM, **{f"n{n:03}": "tea\n" for n in range(200)})
        read: list[str] = []
        monkeypatch.setattr(keyword_module, "hits_of", lambda path, *given: read.append(path) or hits_of(path, *given))
        assert (await keywords.search(AS_TEAM, "tea")).total_hits == 50
        assert len(read) < 60, "what cannot be among the best is not read"


ALPHABET = "aAsSßẞfFiIlLtTkK\u212aſ\ufb01\ufb03σςΣιαᾳΑйЙ\u0130ıj\u030c\u01f0 .茶叶\n"


async def test_the_database_passes_on_whatever_matches(database: Database) -> None:
    """PostgreSQL reads the same patterns as Python does, in a database of any locale."""

    async def passed(pattern: str, texts: list[str]) -> list[bool]:
        async with database.tenant("default", snapshot=True) as connection:
            cursor = await connection.execute(
                "SELECT t.text ~ %(pattern)s AS passed FROM unnest(%(texts)s::text[]) WITH ORDINALITY AS t(text, n) "
                "ORDER BY n",
                {"pattern": pattern, "texts": texts},
            )
            return [row["passed"] for row in await cursor.fetchall()]

    loop = asyncio.get_running_loop()

    def compare() -> None:
        @settings(max_examples=60, suppress_health_check=list(HealthCheck))
        @given(
            st.text(ALPHABET, min_size=1, max_size=6), st.lists(st.text(ALPHABET, max_size=20), min_size=1, max_size=20)
        )
        def run(query: str, texts: list[str]) -> None:
            terms = terms_of(query)
            if not terms.count:
                return
            texts = [*texts, query, query.upper(), query.casefold()]
            pattern = "|".join(patterns_of(terms))
            answers = asyncio.run_coroutine_threadsafe(passed(pattern, texts), loop).result(60)
            for text, is_passed in zip(texts, answers, strict=True):
                assert is_passed or not hits_of("a.md", text, terms)
                assert is_passed == bool(re.search(pattern, text))

        run()

    await asyncio.to_thread(compare)


@pytest.mark.parametrize("run", [7, 300, 7000])
async def test_a_word_with_more_spellings_than_can_be_listed_is_found(
    keywords: KeywordSearch, pipeline: Pipeline, run: int
) -> None:
    """PostgreSQL repeats nothing more than 255 times, and Python would try as many ways at every place."""
    word = f"x{'s' * run}y"
    await put(pipeline, ADA, a=f"before\nthe {word.upper()} after", b=f"x{'s' * run}")
    outcome = await keywords.search(AS_ADA, word)
    assert [(hit.path, hit.line) for hit in outcome.hits] == [("a.md", 2)]
