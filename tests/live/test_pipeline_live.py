"""The whole pipeline against a real model: what must hold whatever the model says.

`REVERIE_LLM_BASE_URL` and `REVERIE_LLM_MODEL` say which; every other `REVERIE_*` goes to the server, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.clusters import Databases
from tests.live.living import BUDGET, Lived, endpoint_settings, live, summary_of
from tests.live.said import ADA, BO, MARKS, TALKS

pytestmark = pytest.mark.live

# The stages that ask a model.
ASKING = ("extraction", "episodic", "semantic", "dreaming", "emergence", "compaction")
MADE = ("prompt", "prompt_version", "model")


@pytest.fixture(scope="module")
def lived(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    missing = {"REVERIE_LLM_BASE_URL", "REVERIE_LLM_MODEL"} - endpoint_settings().keys()
    if missing:
        pytest.fail(f"the live test needs a language model: set {' and '.join(sorted(missing))}", pytrace=False)
    directory: Path = tmp_path_factory.mktemp("live")
    name = f"test_live_{directory.name[-8:].strip('-')}"
    url = databases.create(name)
    lived = live(directory, url)
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT coalesce(sum(calls), 0) FROM model_calls").fetchone()
    assert row is not None
    lived.calls = row[0]
    print(f"\n{summary_of(lived)}")
    yield lived
    databases.drop(name)


def made_things(lived: Lived) -> list[Mapping[str, Any]]:
    """Everything that says how it was made."""
    things: list[Mapping[str, Any]] = []
    for owner_key in (ADA, BO):
        seen = lived.seen[owner_key]
        things += [*seen["episodes"], *seen["entities"]]
        things += [relation for entity in seen["entities"] for relation in entity["relations"]]
        things += [report for report in seen["reports"] if report["method"] is not None]
        things += [line for line in lived.lines[owner_key] if line["method"] is not None]
    return things


def entries(text: str) -> set[str]:
    return {line.strip().removeprefix("- ") for line in text.splitlines() if line.strip() and line[0] != "#"}


def test_no_job_fails_and_each_stage_has_run(lived: Lived) -> None:
    assert lived.pipeline["dead_letters"] == []
    stages = lived.pipeline["stages"]
    assert {name: stage["failed"] for name, stage in stages.items() if stage["failed"]} == {}
    assert [line for line in lived.log if line.get("event") == "job" and line["status"] == "failed"] == []
    expected = {"extraction", "episodic", "semantic", "dreaming"}
    if any(lived.seen[owner_key]["entities"] for owner_key in (ADA, BO)):
        expected.add("dedup")
    assert expected <= {name for name, stage in stages.items() if stage["last_success_at"] is not None}
    assert lived.emergence["status"] in ("completed", "skipped")


def test_each_session_is_summarised_once_and_completely(lived: Lived) -> None:
    for owner_key, talks in TALKS.items():
        told: dict[str, list[int]] = {session_id: [] for session_id in talks}
        for episode in lived.seen[owner_key]["episodes"]:
            assert episode["summary"].strip()
            assert episode["abstract"].strip()
            for source in episode["sources"]:
                told[episode["session_id"]] += [message["seq"] for message in source["messages"]]
        expected = {session_id: list(range(1, len(texts) + 1)) for session_id, texts in talks.items()}
        assert {session_id: sorted(numbers) for session_id, numbers in told.items()} == expected


def test_all_that_is_derived_says_how_it_was_made_and_of_what(lived: Lived) -> None:
    things = made_things(lived)
    assert things
    for thing in things:
        made = {name: thing[name] for name in MADE}
        if thing["method"] == "llm":
            assert made["model"] == lived.model
            assert None not in made.values()
        else:
            assert set(made.values()) == {None}
    sourced = [
        one for owner_key in (ADA, BO) for kind in ("episodes", "entities") for one in lived.seen[owner_key][kind]
    ]
    sourced += [line for owner_key in (ADA, BO) for line in lived.lines[owner_key] if line["method"] is not None]
    assert [one for one in sourced if not one["sources"]] == []


def test_where_the_model_was_not_used_it_is_said_why(lived: Lived) -> None:
    runs = [run for run in lived.jobs(*ASKING) if run["method"] == "extractive"]
    assert [run for run in runs if not run["fallback"]] == []
    by_hand = [lived.compaction, *(report for report in lived.reports(ADA, "full") if report["method"])]
    assert [one for one in by_hand if (one["method"] == "extractive") != bool(one["fallback"])] == []


def test_what_a_person_wrote_stays_and_files_stay_under_their_caps(lived: Lived) -> None:
    files = lived.files[ADA]
    kept = entries(files["MEMORY.md"])
    for path, text in files.items():
        if path.startswith("memory/archive/"):
            kept |= entries(text)
    assert entries(lived.memory_before) - kept == set()
    assert files["MEMORY.md"].startswith("# Long-term Memory\n")
    for owner_key in (ADA, BO):
        assert {path for path, text in lived.files[owner_key].items() if len(text) > 20_000} == set()
        assert len(lived.files[owner_key].get("MEMORY.md", "")) <= 8000


def test_compaction_leaves_a_backup_and_each_entry_once(lived: Lived) -> None:
    # The clock may have been faster: the file is long enough to be compacted by itself.
    by_clock = [run for run in lived.jobs("compaction") if run["status"] == "completed"]
    assert lived.compaction["compacted"] or by_clock, lived.compaction["reason"]
    assert any(path.startswith("MEMORY_backup_") or "/MEMORY_backup_" in path for path in lived.files[ADA])
    lines = [line for line in lived.files[ADA]["MEMORY.md"].splitlines() if line.startswith("- ")]
    assert len(lines) == len(set(lines))


def test_a_compacted_conversation_keeps_its_last_messages_beside_a_summary(lived: Lived) -> None:
    said = len(TALKS[ADA]["web:ada-3"])
    assert (lived.session["kept"], lived.session["removed"]) == (2, said - 2)
    assert lived.session["summary"].strip()
    assert lived.session["method"] in ("llm", "extractive")


def test_dreaming_takes_the_conversations_of_whoever_had_enough_of_them(lived: Lived) -> None:
    promoted = [episode for episode in lived.seen[ADA]["episodes"] if episode["promoted_at"]]
    assert len(promoted) >= 5
    assert [report["status"] for report in lived.reports(ADA, "dreaming")] != []
    assert [episode for episode in lived.seen[BO]["episodes"] if episode["promoted_at"]] == []
    assert lived.reports(BO, "dreaming") == []


def test_emergence_by_hand_leaves_a_report(lived: Lived) -> None:
    [report] = [one for one in lived.reports(ADA, "full") if one["id"] == lived.emergence["report_id"]]
    assert report["trigger"] == "api"
    assert report["seen"]["notes"] != []
    texts = [one["text"] for one in (*report["promoted"], *report["rejected"])]
    assert any("heron" in text for text in texts)
    assert "DREAMS.md" in lived.files[ADA]


def test_nothing_of_one_owner_is_the_others(lived: Lived) -> None:
    for owner_key, other in ((ADA, BO), (BO, ADA)):
        seen = json.dumps([lived.seen[other], lived.files[other], lived.lines[other]], ensure_ascii=False).casefold()
        assert [mark for mark in MARKS[owner_key] if mark.casefold() in seen] == []
        assert any(mark.casefold() in seen for mark in MARKS[other])


def test_the_log_has_no_memory_text(lived: Lived) -> None:
    log = json.dumps(lived.log, ensure_ascii=False).casefold()
    assert [mark for marks in MARKS.values() for mark in marks if mark.casefold() in log] == []


def test_calls_are_counted_within_the_budget(lived: Lived) -> None:
    assert 0 < lived.calls <= BUDGET


def test_at_least_one_answer_was_the_models(lived: Lived) -> None:
    if not any(thing["method"] == "llm" for thing in made_things(lived)) and lived.compaction["method"] != "llm":
        pytest.fail(f"the pipeline held, but nothing that it kept was the model's:\n{summary_of(lived)}", pytrace=False)
