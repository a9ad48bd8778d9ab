"""What the background work makes of conversations, through the Python client."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.graphs import Graph, day
from tests.jobs import Recorded, deferred, with_stages

import reverie_client
from reverie_indexer.database.database import Database
from reverie_indexer.errors import EmbedderUnavailable
from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.model import STAGES, Work
from reverie_server.jobs.queue import JobRules
from reverie_server.runtime import Runtime

ME = "user:42"
REVIEW = "We decided to move the review with Ada Lovelace to Thursday"
TEA = "Prefers tea to coffee in the morning."
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


async def listed(items: Any) -> list[Any]:
    return [item async for item in items]


async def test_what_conversations_came_to_is_listed_found_and_removed(me: Any, runtime: Runtime) -> None:
    for number in range(3):
        said = {"role": "user", "content": f"{REVIEW}, part {number}.", "id": "m-1"}
        await me.add_messages(f"web:{number}", [said, {"role": "assistant", "content": "Noted."}])
        await me.complete_session(f"web:{number}", trigger_source="web")
    await drain(runtime)
    found = await listed(me.episodes(page_size=2))
    assert [episode.session_id for episode in found] == ["web:2", "web:1", "web:0"]
    first = found[2]
    assert await me.episode(first.id) == first
    assert (first.summary, first.abstract) == (f"- User: {REVIEW}, part 0.", f"{REVIEW}, part 0.")
    assert (first.key_topics, first.owner_key) == (("Ada Lovelace",), ME)
    assert (first.method, first.prompt, first.prompt_version, first.model) == ("extractive", None, None, None)
    assert first.sources[0]["messages"] == [{"seq": 1, "id": "m-1"}, {"seq": 2, "id": None}]
    assert first.started_at <= first.ended_at <= first.created_at < first.expires_at
    assert (first.created_at.utcoffset(), first.promoted_at) == (timedelta(0), None)

    results = await me.search_episodes("review part 0", mode="text", min_score=0.01)
    assert (results.mode, results.fallback, results.warnings, len(results)) == ("text", None, (), 3)
    assert results.timing_ms.total > 0
    assert [one.score for one in results] == sorted((one.score for one in results), reverse=True)
    assert results[0] in results.results
    assert [one.id for one in await me.search_episodes("Part 0", max_results=1)] == [first.id]
    assert len(await me.search_episodes("review", as_of=LONG_AGO)) == 0

    [hit] = [hit for hit in await me.search(REVIEW, tiers=["episodic"]) if hit.path.startswith("episodes/web:0")]
    sources = await me.sources(hit.id)
    assert (sources.id, sources.tier, sources.path) == (hit.id, "episodic", hit.path)
    assert [(line.written_by, line.method, line.model) for line in sources.lines] == [("episodic", "extractive", None)]
    assert sources.lines[0].sources[0]["session_id"] == "web:0"

    await me.delete_episode(first.id)
    for missing in (me.episode(first.id), me.delete_episode(first.id), me.sources("999999")):
        with pytest.raises(reverie_client.NotFound):
            await missing
    with pytest.raises(reverie_client.ValidationError):
        await me.search_episodes(" ")


async def test_the_graph_is_searched_and_put_in_order(reverie: Any, me: Any, runtime: Runtime) -> None:
    graph = Graph(runtime, ME, "me")
    await graph.hear("Ada works on Reverie. Ada works at Acme.", day(0))
    await graph.hear("Ada works at Globex.", day(9))
    found = await me.search_graph("Ada", max_depth=1, as_of=day(5))
    ada = found.entities[0]
    assert (ada.name, ada.type, ada.depth, ada.scope, ada.owner_key) == ("Ada", "person", 0, "personal", ME)
    assert set(found.paths) == {"Ada -based_at-> Acme", "Ada -works_on-> Reverie"}
    [acme] = [relation for relation in found.relations if relation.target == "Acme"]
    assert (acme.name, acme.source_id, acme.valid_from, acme.valid_to) == ("based_at", ada.id, day(0), day(9))
    assert (found.truncated, found.fallback, found.warnings) == (False, None, ())
    assert [one.name for one in (await me.search_graph(entity_id=ada.id, entity_type="project")).entities] == [
        "Ada",
        "Reverie",
    ]

    names = ["Acme", "Ada", "Globex", "Reverie"]
    assert [entity.name for entity in await listed(me.entities(page_size=3))] == names
    firms = await listed(me.entities(entity_type="organization"))
    assert [entity.name for entity in firms] == ["Acme", "Globex"]
    detail = await me.entity(ada.id)
    assert {(r.target, r.valid_to is None) for r in detail.relations} == {
        ("Acme", False),
        ("Globex", True),
        ("Reverie", True),
    }
    assert {source.session_id for relation in detail.relations for source in relation.sources} == {"web:1"}
    assert [source.said_at for source in detail.sources] == [day(9), day(0)]
    assert (detail.more_relations, detail.merges) == (False, ())

    acme_id, globex_id = (firm.id for firm in firms)
    merged = await me.merge_entities(acme_id, globex_id)
    assert (merged.entity.id, merged.entity.aliases) == (acme_id, ("Globex",))
    [merge] = (await me.entity(globex_id)).merges
    assert (merge.id, merge.kept_id, merge.absorbed_id, merge.undone_at) == (merged.merge_id, acme_id, globex_id, None)
    undone = await me.undo_merge(merged.merge_id)
    assert (undone.merge_id, undone.kept.name, undone.restored.name) == (merged.merge_id, "Acme", "Globex")
    assert await listed(me.duplicates()) == []
    [pair] = await listed(me.duplicates(state="dismissed", page_size=1))
    assert {pair.first.name, pair.second.name} == {"Acme", "Globex"}
    assert (await me.dismiss_duplicate(pair.id)).state == "dismissed"

    with pytest.raises(reverie_client.Conflict):
        await me.undo_merge(merged.merge_id)
    for missing in (me.dismiss_duplicate("dup-99"), reverie.agent("me").entity(ada.id)):
        with pytest.raises(reverie_client.NotFound):
            await missing
    for wrong in (me.search_graph(), me.search_graph("Ada", max_depth=6), me.merge_entities(acme_id, acme_id)):
        with pytest.raises(reverie_client.ValidationError):
            await wrong


async def test_the_background_work_says_how_it_does_and_tries_again(
    reverie: Any, me: Any, runtime: Runtime, database: Database
) -> None:
    await me.write("a.md", "lantern")
    job_id = str(await deferred(database, Work("semantic", "default", "me", ME)))
    failing = {"semantic": Recorded(EmbedderUnavailable("down"), failures=1)}
    broken = with_stages(runtime, failing, JobRules(max_attempts=1))  # type: ignore[arg-type]  # the names are stages
    await drain(broken)
    health = await me.pipeline()
    assert health.stages.keys() == set(STAGES)
    stage = health.stages["semantic"]
    assert (stage.pending, stage.running, stage.scheduled, stage.failed) == (0, 0, 0, 1)
    assert (stage.last_status, stage.last_error, stage.last_success_at) == ("failed", "embedder_unavailable", None)
    [letter] = health.dead_letters
    assert (letter.job_id, letter.stage, letter.owner_key, letter.attempts) == (job_id, "semantic", ME, 1)
    assert (letter.error, letter.failed_at.utcoffset()) == ("embedder_unavailable", timedelta(0))
    assert health.models is None, "they are shown to who names no owner"
    assert (await reverie.agent("me", owner_key="user:7").pipeline()).dead_letters == ()
    unowned = await reverie.agent("me").pipeline()
    assert unowned.dead_letters == health.dead_letters
    assert (unowned.models.embedder, unowned.models.language_model.down) == ("ready", None)
    everybody = reverie.agent("me", owner_key="*")
    assert (await everybody.pipeline()).dead_letters == health.dead_letters
    assert (await me.retry_pipeline(stage="dedup"), await me.retry_pipeline(job_id="999")) == (0, 0)
    assert await me.retry_pipeline(stage="semantic", job_id=job_id) == 1
    assert await drain(broken) == 1
    done = (await me.pipeline()).stages["semantic"]
    assert (done.failed, done.last_status, done.last_method) == (0, "completed", "extractive")
    assert done.last_success_at > done.last_failed_at
    with pytest.raises(reverie_client.ValidationError):
        await me.retry_pipeline(stage="sleep")
    with pytest.raises(reverie_client.NotFound):
        await reverie.agent("nobody").pipeline()


async def test_a_night_is_run_by_hand_told_and_seen(me: Any, runtime: Runtime) -> None:
    date = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
    await me.write(f"memory/{date}.md", f"# {date}\n\n- {TEA}\n")
    for query in (TEA, f"{TEA} again", f"what about {TEA}"):
        await me.search(query)
    await runtime.recalls.flush()
    # Nobody asked for this.
    await me.append(f"memory/{date}.md", "\n- Looked at a screenshot of the dashboard.\n")
    before = await me.dreaming_status()
    assert (before.enabled, before.cron, before.last_run, before.last_status) == (True, "0 2 * * *", None, None)
    assert (before.pending_candidates, before.promoted, before.latest_entry) == (1, 0, None)
    assert before.next_run > datetime.now(UTC)
    first, second = await me.dreaming_candidates()
    assert (first.source, first.snippet) == (f"memory/{date}.md:3", TEA)
    assert first.score > second.score >= 0
    assert first.parts.keys() >= {"frequency", "recency"}
    recalls, clear = first.gates["recalls"], first.gates["not_contradicted"]
    assert (recalls.value, recalls.needed, recalls.passed) == (3, 3, True)
    assert (clear.value, clear.passed) == (True, True)
    assert await me.morning_card() == ()

    run = await me.run_emergence()
    assert run.status == "completed", run.reason
    report = await me.dream_report(run.report_id)
    assert (report.id, report.mode, report.trigger, report.status) == (run.report_id, "full", "api", "success")
    assert (report.method, report.path, report.reason) == ("extractive", "MEMORY.md", run.reason)
    assert ([one["text"] for one in report.promoted], report.rejected[0]["text"]) == ([TEA], second.snippet)
    assert f"+- {TEA}" in report.diff
    assert report.version_after == (await me.read("MEMORY.md")).version
    [entry] = await me.morning_card()
    assert (entry.key, entry.text, entry.source) == (f"{run.report_id}:1", TEA, first.source)
    assert [await me.see_morning_card(), await me.see_morning_card(), await me.morning_card()] == [1, 0, ()]
    after = await me.dreaming_status()
    assert (after.last_run, after.promoted, after.pending_candidates) == (report.started_at, 1, 0)
    focused = await me.run_focused("lanterns of the old harbour")
    assert (focused.status, [one.id async for one in me.dream_reports(page_size=1)]) == (
        "skipped",
        [focused.report_id, run.report_id],
    )
    assert (await me.dream_report(focused.report_id)).topic == "lanterns of the old harbour"
    # Nothing is older than 30 days.
    assert await me.dream_archive() == ()
    with pytest.raises(reverie_client.NotFound):
        [one async for one in me.dream_archive_month("2026-04")]


async def test_a_conversation_is_taken_into_files_at_once(me: Any) -> None:
    fact = "Please remember: the launch of Project Heron is on 2026-05-11 in Lisbon."
    said = [{"role": "user", "content": fact}, {"role": "assistant", "content": "I will."}]
    await me.add_messages("web:1", said * 3)
    run = await me.summarize("web:1")
    assert (run.status, run.report_id) == ("completed", None), run.reason
    assert "Project Heron" in (await me.read("MEMORY.md")).content
    found = await me.search("Project Heron", path_prefix="MEMORY.md")
    hit = next(hit for hit in found if "Heron" in hit.text)
    [line] = [line for line in (await me.sources(hit.id)).lines if "Heron" in line.text]
    assert (line.written_by, line.method, line.sources[0]["session_id"]) == ("extraction", "extractive", "web:1")
    assert line.at.utcoffset() == timedelta(0)
    assert (await me.summarize("web:1")).status == "skipped"


async def test_an_error_in_an_envelope_is_the_error_that_it_stands_for(connect: Any, runtime: Runtime) -> None:
    me = connect().agent("me", owner_key=ME)
    with pytest.raises(reverie_client.NotFound) as unknown:
        await me.dreaming_status()
    assert (unknown.value.code, unknown.value.status, unknown.value.extra) == ("not_found", 404, {})
    assert "me" in unknown.value.detail
    await me.write("a.md", "x")
    for missing in (me.dream_report("0" * 16), me.summarize("web:none")):
        with pytest.raises(reverie_client.NotFound):
            await missing
    with pytest.raises(reverie_client.ValidationError, match="topic"):
        await me.run_focused(" ")
    _, viewer = await runtime.keys.create("default", "viewer")
    with pytest.raises(reverie_client.Unauthorized):
        await me.morning_card()
    with pytest.raises(reverie_client.Forbidden) as refused:
        await connect(api_key=viewer).agent("me", owner_key=ME).run_emergence()
    assert (refused.value.code, refused.value.status) == ("forbidden", 403)
