"""The control routes of consolidation: their envelope, their shapes, and whose they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.nights import ADA, TEA, Nights, nights

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.files.files import Write
from reverie_server.forgetting.selection import Target

REPORT_FIELDS = {
    *("id", "mode", "topic", "trigger", "started_at", "status", "reason", "seen", "promoted", "rejected", "diff"),
}


@dataclass
class Controls:
    http: httpx.AsyncClient
    ada: Nights

    async def get(self, path: str, owner: str | None = ADA, **query: Any) -> httpx.Response:
        asked = {**query, **({"owner_key": owner} if owner else {})}
        return await self.http.get(f"/memory/wren/{path}", params=asked)

    async def post(self, path: str, **body: Any) -> httpx.Response:
        return await self.http.post(f"/memory/wren/{path}", json=body)

    async def data(self, path: str, owner: str | None = ADA, **query: Any) -> Any:
        response = await self.get(path, owner, **query)
        assert response.status_code == 200, response.text
        assert response.json().keys() == {"code", "data"}
        assert response.json()["code"] == 200
        return response.json()["data"]


@pytest.fixture
async def controls(database: Database, models: ModelSlot, serve_runtime: ServeRuntime) -> AsyncIterator[Controls]:
    ada = await nights(database, models, at=datetime(2026, 4, 3, 14, 0, tzinfo=UTC), time_zone="Europe/Berlin")
    base_url = await serve_runtime(ada.runtime)
    async with httpx.AsyncClient(base_url=base_url, timeout=30, verify=PLAIN) as http:
        yield Controls(http, ada)


async def test_a_run_by_hand_its_report_status_candidates_and_card(controls: Controls) -> None:
    ada = controls.ada
    assert (await controls.data("dream/morning-card")) is None
    await ada.ready()
    await ada.note(1, "Looked at a screenshot of the dashboard.")
    candidates = await controls.data("dreaming/candidates")
    assert [one["snippet"] for one in candidates] == [TEA, "Looked at a screenshot of the dashboard."]
    best = (await controls.get("dreaming/candidates", limit=1)).json()
    assert (best["data"], best["count"]) == (candidates[:1], 2)
    first = candidates[0]
    assert first.keys() == {"source", "snippet", "score", "parts", "gates"}
    assert first["source"] == "memory/2026-04-01.md:3"
    assert first["gates"]["recalls"] == {"value": 3, "needed": 3, "passed": True}
    assert first["gates"]["not_contradicted"] == {"value": True, "needed": True, "passed": True}
    assert sum(
        weight * first["parts"][name]
        for name, weight in zip(
            ("frequency", "recency", "diversity", "freshness", "consolidation"),
            (0.3, 0.25, 0.2, 0.15, 0.1),
            strict=True,
        )
    ) == pytest.approx(first["score"], abs=1e-3)
    status = await controls.data("dreaming/status")
    assert status == {
        "enabled": True,
        "cron": "0 2 * * *",
        "last_run": None,
        "next_run": "2026-04-04T00:00:00Z",
        "last_status": None,
        "latest_entry": None,
        "pending_candidates": 1,
        "promoted": 0,
    }
    ran = (await controls.post("emergence", owner_key=ADA)).json()
    assert ran["code"] == 200
    assert ran["data"]["status"] == "completed"
    report_id = ran["data"]["report_id"]
    report = await controls.data(f"dream/reports/{report_id}")
    assert report.keys() >= REPORT_FIELDS
    assert (report["mode"], report["trigger"], report["status"]) == ("full", "api", "success")
    assert (report["id"], report["started_at"]) == (report_id, "2026-04-03T14:00:00Z")
    status = await controls.data("dreaming/status")
    assert (status["last_run"], status["last_status"], status["promoted"]) == (report["started_at"], "success", 1)
    assert (status["pending_candidates"], report_id in status["latest_entry"]) == (0, True)
    card = [{"key": f"{report_id}:1", "text": TEA, "source": "memory/2026-04-01.md:3"}]
    assert await controls.data("dream/morning-card") == card
    seen = (await controls.post("dream/morning-card/seen", owner_key=ADA)).json()
    assert seen == {"code": 200, "data": {"seen": 1}}
    assert await controls.data("dream/morning-card") is None
    assert (await controls.post("dream/morning-card/seen", owner_key=ADA)).json()["data"] == {"seen": 0}


async def test_reports_come_newest_first_in_pages_and_topics_are_told(controls: Controls) -> None:
    ada = controls.ada
    await ada.note(3, "The kiln behind the barn is made of old bricks.")
    skipped = (await controls.post("emergence", owner_key=ADA)).json()["data"]
    assert skipped["status"] == "skipped"
    ada.later(minutes=1)
    focused = (await controls.post("dreaming/focused", owner_key=ADA, topic="the kiln of old bricks")).json()["data"]
    assert focused["status"] == "completed"
    page = await controls.data("dream/reports", limit=1)
    assert [report["id"] for report in page["reports"]] == [focused["report_id"]]
    assert (page["reports"][0]["mode"], page["reports"][0]["topic"]) == ("focused", "the kiln of old bricks")
    rest = await controls.data("dream/reports", limit=1, cursor=page["next_cursor"])
    assert [report["id"] for report in rest["reports"]] == [skipped["report_id"]]
    assert rest["next_cursor"] is None
    # The paths as they are in the document of the interface.
    response = await controls.http.get("/api/v1/memory/wren/dream/reports", params={"owner_key": ADA})
    assert len(response.json()["data"]["reports"]) == 2


async def test_reports_older_than_thirty_days_are_in_the_archive_of_their_month(controls: Controls) -> None:
    ada = controls.ada
    await ada.ready()
    first = (await controls.post("emergence", owner_key=ADA)).json()["data"]
    assert await controls.data("dream/archive") == {"months": []}
    assert (await controls.get("dream/archive/2026-04")).status_code == 404
    ada.later(days=31)
    second = (await controls.post("emergence", owner_key=ADA)).json()["data"]
    archive = await controls.data("dream/archive")
    assert archive == {
        "months": [{"month": "2026-04", "reports": 1, "success": 1, "skipped": 0, "failed": 0, "promoted": 1}]
    }
    month = await controls.data("dream/archive/2026-04", limit=1)
    assert [report["id"] for report in month["reports"]] == [first["report_id"]]
    assert month["next_cursor"] is None
    assert TEA in str(month["reports"][0]["promoted"])
    # Newer ones are in no archive yet; all stand in the list, and each is found by its id.
    assert (await controls.get("dream/archive/2026-05")).status_code == 404
    listed = await controls.data("dream/reports")
    assert [report["id"] for report in listed["reports"]] == [second["report_id"], first["report_id"]]
    for owner in ("user:bo", None):
        assert await controls.data("dream/archive", owner) == {"months": []}
        assert (await controls.get("dream/archive/2026-04", owner)).status_code == 404
    for nonsense in ("2026-13", "2026", "0000-01", "2026-4", "%00"):
        assert (await controls.get(f"dream/archive/{nonsense}")).status_code in (404, 422)
    # What is forgotten is forgotten there, too.
    await ada.runtime.forgetting.forget(await ada.grant(), ada.place, Target(text=TEA), dry_run=False)
    assert TEA not in str(await controls.data("dream/archive/2026-04"))


async def test_nobody_sees_anothers_nights(controls: Controls) -> None:
    await controls.ada.ready()
    run = (await controls.post("emergence", owner_key=ADA)).json()["data"]
    for owner in ("user:bo", None):
        assert (await controls.data("dream/reports", owner)) == {"reports": [], "next_cursor": None}
        assert (await controls.data("dreaming/candidates", owner)) == []
        assert (await controls.data("dream/morning-card", owner)) is None
        status = await controls.data("dreaming/status", owner)
        assert (status["latest_entry"], status["promoted"], status["last_run"]) == (None, 0, None)
        response = await controls.get(f"dream/reports/{run['report_id']}", owner)
        assert response.status_code == 404
        assert response.json() == {"code": 500, "msg": f"there is no report '{run['report_id']}'", "error": "not_found"}
    # Seen by somebody else is not seen.
    await controls.post("dream/morning-card/seen", owner_key="user:bo")
    assert (await controls.data("dream/morning-card")) is not None


async def test_errors_stand_in_the_envelope_with_their_status(controls: Controls) -> None:
    unknown = await controls.http.get("/memory/nobody/dreaming/status")
    assert unknown.status_code == 404
    assert (unknown.json()["code"], unknown.json()["msg"]) == (500, "there is no agent 'nobody'")
    for response in (
        await controls.post("dreaming/focused", owner_key=ADA),
        await controls.post("dreaming/focused", owner_key=ADA, topic="   "),
        await controls.post("emergence", owner="x"),
        await controls.get("dream/reports", limit=0),
        await controls.get("dream/reports", cursor="nonsense"),
        await controls.http.post("/memory/wren/emergence", params={"owner_key": ADA}),
    ):
        assert response.status_code == 422, response.text
        assert response.json().keys() == {"code", "msg", "error"}
        assert (response.json()["code"], response.json()["error"]) == (500, "validation_error")
    missing = await controls.get("dream/reports/nothing-like-it")
    assert missing.status_code == 404
    run = await controls.http.post("/memory/nobody/emergence")
    assert run.status_code == 404


async def test_a_team_member_runs_nothing(controls: Controls) -> None:
    runtime = controls.ada.runtime
    await runtime.agents.put("default", "robin", "Robin", "wren", {})
    refused = await controls.http.post("/memory/robin/emergence", json={"owner_key": ADA})
    assert (refused.status_code, refused.json()["error"]) == (403, "read_only_member")
    status = (await controls.http.get("/memory/robin/dreaming/status", params={"owner_key": ADA})).json()["data"]
    assert (status["enabled"], status["next_run"]) == (False, None)


async def test_without_isolation_the_team_has_one_memory_and_each_owner_a_card(controls: Controls) -> None:
    runtime, team = controls.ada.runtime, controls.ada.of(None)
    await runtime.agents.put("default", "wren", "Wren", None, {"memory_isolation": False, "time_zone": "Europe/Berlin"})
    await team.ready()
    run = (await controls.post("emergence", owner_key=ADA)).json()["data"]
    assert run["status"] == "completed"
    assert TEA in (await team.text("MEMORY.md") or "")
    for owner in (ADA, "user:bo"):
        assert (await controls.data("dream/morning-card", owner))[0]["text"] == TEA
        await controls.post("dream/morning-card/seen", owner_key=owner)
        assert (await controls.data("dream/morning-card", owner)) is None


async def entry_of(controls: Controls, line: str = TEA) -> dict[str, Any]:
    await controls.ada.memory("# Long-term Memory\n\n## Notes\n\n- I never work on Fridays.\n")
    await controls.ada.ready(line)
    await controls.post("emergence", owner_key=ADA)
    [entry] = await controls.data("dream/morning-card")
    return dict(entry)


async def test_the_card_of_an_older_night_comes_after_the_newest_is_seen(controls: Controls) -> None:
    ada = controls.ada
    lives, works = "I live in Kiel, near the harbour.", "I work as a vet in Leeds."
    for line in (TEA, lives, works):
        await ada.ready(line)
        assert (await ada.emerge()).status == "completed"
        ada.later(days=1)
    shown = []
    while card := await controls.data("dream/morning-card"):
        shown.append([entry["text"] for entry in card])
        assert (await controls.post("dream/morning-card/seen", owner_key=ADA)).json()["data"] == {"seen": 1}
    assert shown == [[works], [lives], [TEA]]


async def test_a_night_of_which_nothing_is_left_hides_no_older_one(controls: Controls) -> None:
    ada = controls.ada
    for line in (TEA, "I work as a vet in Leeds."):
        await ada.ready(line)
        assert (await ada.emerge()).status == "completed"
        ada.later(days=1)
    await ada.memory(f"# Long-term Memory\n\n## Notes\n\n- {TEA}\n")
    assert [entry["text"] for entry in await controls.data("dream/morning-card")] == [TEA]
    await controls.post("dream/morning-card/seen", owner_key=ADA)
    assert await controls.data("dream/morning-card") is None


def path_of(entry: dict[str, Any], action: str) -> str:
    return f"dream/reports/{entry['key'].partition(':')[0]}/entries/{entry['key']}/{action}"


async def test_a_person_confirms_an_entry_of_the_card(controls: Controls) -> None:
    entry = await entry_of(controls)
    response = await controls.post(path_of(entry, "confirm"), owner_key=ADA)
    assert response.json() == {"code": 200, "data": entry}
    [promoted] = (await controls.data("dream/reports"))["reports"][0]["promoted"]
    assert promoted["confirmed_at"]
    assert (await controls.post(path_of(entry, "confirm"), owner_key="user:bo")).status_code in (403, 404)


async def test_an_edit_changes_exactly_that_line_and_makes_it_the_persons(controls: Controls) -> None:
    entry = await entry_of(controls)
    response = await controls.post(path_of(entry, "edit"), owner_key=ADA, content="Prefers green tea.")
    assert response.json()["data"]["text"] == "Prefers green tea."
    text = await controls.ada.text("MEMORY.md") or ""
    assert "- Prefers green tea.\n" in text
    assert TEA not in text
    assert "- I never work on Fridays.\n" in text
    assert [one["text"] for one in await controls.data("dream/morning-card")] == ["Prefers green tea."]
    view = await controls.ada.runtime.consolidation.emergence._collect(
        await controls.ada.grant(), controls.ada.place, None
    )
    assert view.inputs.memory is not None
    assert not view.inputs.memory.is_machine("- Prefers green tea.")


async def test_a_forgotten_entry_leaves_memory_card_and_report(controls: Controls) -> None:
    entry = await entry_of(controls)
    response = await controls.post(path_of(entry, "forget"), owner_key=ADA)
    assert response.status_code == 200
    assert response.json()["data"]["removed"] > 0
    assert TEA not in (await controls.ada.text("MEMORY.md") or "")
    assert await controls.data("dream/morning-card") is None
    assert TEA not in str(await controls.data("dream/reports"))
    assert (await controls.post(path_of(entry, "confirm"), owner_key=ADA)).status_code == 404


async def test_forgetting_an_entry_takes_no_sentence_that_begins_with_it(controls: Controls) -> None:
    entry = await entry_of(controls, TEA.rstrip("."))
    longer = f"{TEA.rstrip('.')} only where it is black."
    await controls.ada.runtime.workspace.put(controls.ada.place, Write("notes/drinks.md", "user", "put"), longer)
    assert (await controls.post(path_of(entry, "forget"), owner_key=ADA)).status_code == 200
    assert await controls.ada.text("notes/drinks.md") == longer


async def test_an_entry_that_left_the_memory_vanishes_from_the_card(controls: Controls) -> None:
    await entry_of(controls)
    await controls.ada.memory("# Long-term Memory\n\n## Notes\n\n- I never work on Fridays.\n")
    assert await controls.data("dream/morning-card") is None


async def test_an_edit_leaves_what_else_stands_in_that_block(controls: Controls) -> None:
    entry = await entry_of(controls)
    memory = f"# Long-term Memory\n\n## Notes\n\nThe alarm code is 7731. {TEA}\nThe tea is in the tin.\n"
    await controls.ada.memory(memory)
    response = await controls.post(path_of(entry, "edit"), owner_key=ADA, content="Prefers green tea")
    assert response.status_code == 200
    assert await controls.ada.text("MEMORY.md") == memory.replace(TEA, "Prefers green tea.")
    assert [one["text"] for one in await controls.data("dream/morning-card")] == ["Prefers green tea"]


async def test_an_entry_that_was_reworded_by_hand_is_forgotten_as_it_stands(controls: Controls) -> None:
    entry = await entry_of(controls)
    code = "The alarm code is 7731."
    reworded = "In the morning, Ada prefers tea to coffee in bed."
    await controls.ada.memory(f"# Long-term Memory\n\n## Notes\n\n- {code}\n- {reworded} {code}\n")
    assert len(await controls.data("dream/morning-card")) == 1, "it only restates the entry"
    response = await controls.post(path_of(entry, "forget"), owner_key=ADA)
    assert response.json()["data"]["removed"] > 0
    assert await controls.ada.text("MEMORY.md") == f"# Long-term Memory\n\n## Notes\n\n- {code}\n- {code}\n"
    assert TEA not in str(await controls.data("dream/reports"))
    assert TEA not in (await controls.ada.text("memory/2026-04-01.md") or "")
