"""The benchmark runs the real pipeline, search and SQL on a real PostgreSQL, and leaves nothing behind."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from reverie_bench.recall.baselines import Recipe
from reverie_bench.recall.report import recall_content
from reverie_bench.recall.run import RecallOptions, run_recall
from reverie_bench.recall.sessions import ALL_WAY, MESSAGES_WAY, SessionsOptions, run_sessions, sessions_content
from reverie_bench.report import write_result
from reverie_bench.scratch import scratch_database
from reverie_indexer.embed import Embedding, Role
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import DatabaseUnavailable, EmbedderUnavailable, SetupError

from .bench_reports import shown_text

SAID = [
    "The pottery kiln broke during the glaze firing",
    "My cousin Marek repairs bicycles in Zwolle",
    "We planted tomatoes behind the shed",
    "The choir rehearses on Tuesday evenings",
]


def talk(prefix: str) -> dict[str, Any]:
    turns = [{"dia_id": f"D1:{i}", "speaker": f"{prefix}speaker", "text": text} for i, text in enumerate(SAID, 1)]
    asked = [
        ("What broke during the firing?", 4, ["D1:1"]),
        ("Who repairs bicycles?", 4, ["D1:2"]),
        ("What grows behind the shed, and when does the choir meet?", 1, ["D1:3; D1:4"]),
        ("Never said?", 5, ["D1:1"]),
        ("Nowhere?", 3, []),
    ]
    return {
        "sample_id": "conv-secret",
        "conversation": {"session_1_date_time": "1:30 pm on 28 February, 2031", "session_1": turns},
        "qa": [{"question": q, "answer": "-", "category": c, "evidence": e} for q, c, e in asked],
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "made_up.json"
    path.write_text(json.dumps([talk("Xanthe"), talk("Yorick")]))
    return path


async def load_hashing() -> HashingEmbedder:
    return HashingEmbedder(64)


def exists(conninfo: str, name: str) -> bool:
    with psycopg.connect(conninfo) as connection:
        return connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone() is not None


async def test_a_run_measures_every_way_on_the_same_questions(data: Path, server_conninfo: str) -> None:
    report = await run_recall(
        RecallOptions(data=(data,), embedder=load_hashing, database_url=server_conninfo, resamples=100)
    )
    assert report.sizes == {
        "collections": 2,
        "notes": 2,
        "units": 8,
        "chunks": 8,
        "questions": 6,
        "questions_by_category": {"1 multi-hop": 2, "4 single-hop": 4},
        "dropped_without_evidence": 2,
        "left_out_unanswerable": 2,
    }
    assert set(report["ways"]) == {
        "reverie", "reverie, text only", "reverie, vector only", "random", "grep", "BM25", "vector", "plain recipe",
    }  # fmt: skip
    assert set(report["differences"]) == set(report["ways"]) - {"reverie"}
    assert report["ways"]["reverie"].overall["any@5"] == 1
    assert report["ways"]["reverie, text only"].by_category["4 single-hop"]["mrr"] == 1
    # Four units a collection: whoever lists them all finds all within five.
    assert report["ways"]["random"].overall["all@5"] == 1
    assert report.origin["model"]["provider"] == "hashing"
    assert report["relevance"].found_elsewhere is not None


@pytest.fixture
def past_data(data: Path) -> Path:
    """Nobody has said anything in the future."""
    data.write_text(data.read_text().replace("2031", "2021"))
    return data


async def test_conversations_are_measured_as_sessions(past_data: Path, server_conninfo: str) -> None:
    """Every stage runs, and what it writes down again takes no place from what was said."""
    options = SessionsOptions(data=(past_data,), embedder=load_hashing, database_url=server_conninfo)
    report = await run_sessions(options)
    assert report.sizes == {"collections": 2, "messages": 8, "questions": 6}
    for way in (ALL_WAY, MESSAGES_WAY):
        assert report["ways"][way].overall["fraction@5"] == 1.0
    assert report["ways"][ALL_WAY].tiers_at_10["document"] == 0.0
    assert "evidence found" in shown_text(report, sessions_content(report))


async def test_the_same_run_gives_the_same_figures(data: Path, server_conninfo: str) -> None:
    options = RecallOptions(data=(data,), embedder=load_hashing, database_url=server_conninfo, resamples=100)
    first, again = [await run_recall(options) for _ in range(2)]
    assert first["differences"] == again["differences"]
    assert {n: w.overall for n, w in first["ways"].items()} == {n: w.overall for n, w in again["ways"].items()}


async def test_the_scratch_database_is_gone_even_after_a_failure(server_conninfo: str) -> None:
    names = []

    async def fail_inside() -> None:
        async with scratch_database(server_conninfo) as (conninfo, _):
            names.append(str(conninfo_to_dict(conninfo)["dbname"]))
            assert exists(server_conninfo, names[0])
            raise SetupError("no weights")

    with pytest.raises(SetupError, match="no weights"):
        await fail_inside()
    assert not exists(server_conninfo, names[0])


async def test_overrides_are_measured_against_the_rules_as_they_are(
    data: Path, server_conninfo: str, tmp_path: Path
) -> None:
    report = await run_recall(
        RecallOptions(
            data=(data,),
            embedder=load_hashing,
            database_url=server_conninfo,
            overrides=("text_weight=1",),
            resamples=50,
        )
    )
    assert report.settings["search"]["weights"]["text"] == 1
    assert report["ways"]["reverie"].overall == report["ways"]["reverie, text only"].overall
    assert "reverie without overrides" in report["differences"]
    assert write_result(report, tmp_path).name == "recall-made_up-text_weight-1.json"


async def test_a_result_holds_figures_and_no_text_of_the_data(data: Path, server_conninfo: str, tmp_path: Path) -> None:
    report = await run_recall(
        RecallOptions(data=(data,), embedder=load_hashing, database_url=server_conninfo, resamples=50)
    )
    shown = shown_text(report, recall_content(report))
    written = write_result(report, tmp_path / "results").read_text()
    for secret in ("Xanthe", "Marek", "kiln", "broke", "conv-secret", "D1:1", str(tmp_path)):
        assert secret not in written
        assert secret not in shown
    result = json.loads(written)
    assert result["data"]["file"] == "made_up.json"
    assert len(result["data"]["sha256"]) == 64
    assert set(result["origin"]) >= {"commit", "dirty", "versions", "machine", "model", "duration_seconds"}
    assert "P(evidence | relevance)" in shown


async def test_a_paragraph_file_is_searched_in_the_language_of_its_name(tmp_path: Path, server_conninfo: str) -> None:
    path = tmp_path / "made.zh.json"
    texts = {"河边的老桥在春天修好了。": "老桥什么时候修好？", "图书馆每天晚上九点关门。": "图书馆几点关门？"}
    paragraphs = [{"context": text, "qas": [{"question": question}]} for text, question in texts.items()]
    path.write_text(json.dumps({"data": [{"title": "-", "paragraphs": paragraphs}]}))
    report = await run_recall(
        RecallOptions(data=(path,), embedder=load_hashing, database_url=server_conninfo, resamples=50)
    )
    assert report.data["language"] == "chinese"
    assert report["ways"]["reverie, text only"].overall["hit@1"] == 1
    assert report["relevance"].found_elsewhere is None


async def test_an_unreachable_server_is_an_expected_error(data: Path) -> None:
    with pytest.raises(DatabaseUnavailable):
        await run_recall(
            RecallOptions(
                data=(data,), embedder=load_hashing, database_url="host=127.0.0.1 port=1 connect_timeout=2 dbname=x"
            )
        )


class UnreachableEmbedder(HashingEmbedder):
    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:  # noqa: ARG002  # it never looks
        raise EmbedderUnavailable("the endpoint does not answer")


async def test_a_memory_without_vectors_is_not_measured(data: Path, server_conninfo: str) -> None:
    async def load_unreachable() -> UnreachableEmbedder:
        return UnreachableEmbedder(64)

    with pytest.raises(SetupError, match="not everything was embedded"):
        await run_recall(RecallOptions(data=(data,), embedder=load_unreachable, database_url=server_conninfo))


@pytest.fixture
async def recipe(conninfo: str) -> AsyncIterator[Recipe]:
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
        recipe = Recipe(connection)
        await recipe.create()
        yield recipe


async def test_the_plain_recipe_needs_every_word_and_counts_a_missing_channel_as_0(recipe: Recipe) -> None:
    texts = ["red kite", "red balloon", "a green kite"]
    vectors = np.array([[0, 1], [1, 0], [0.6, 0.8]], np.float32)
    await recipe.load(0, texts, vectors)
    await recipe.load(1, ["red kite"], vectors[:1])
    towards_balloon = np.array([1, 0], np.float32)
    # Only "red kite" has both words; its ts_rank of about 0.1 × 0.3 stands against cosines of 1 and 0.6 × 0.7.
    assert await recipe.search(0, "red kite", towards_balloon) == [1, 2, 0]
    # Without any match the order is that of the vectors, ties to the newer.
    assert await recipe.search(0, "red kite flying", np.array([0, 1], np.float32)) == [0, 2, 1]


async def test_the_words_of_the_plain_recipe_break_a_tie_of_vectors(recipe: Recipe) -> None:
    same = np.array([[1, 0], [1, 0]], np.float32)
    await recipe.load(0, ["red kite", "red balloon"], same)
    assert await recipe.search(0, "red", same[0]) == [1, 0]
    assert await recipe.search(0, "red kite", same[0]) == [0, 1]
