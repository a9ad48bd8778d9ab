"""What a model wrote into files in its own words is forgotten with the statement behind it, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.consistency import assert_index_consistent
from tests.episodes import complete
from tests.forgetting import forget_all
from tests.rows import leftovers
from tests.scripted_model import Asked, Reply, ScriptedModel, fails, says_json
from tests.talks import Talk

from reverie_indexer.index.slices import own_slices
from reverie_server.app.pending_jobs import drain
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance.line_identity import Derived
from reverie_server.provenance.record import record
from reverie_server.runtime import Runtime

SAID = "Dr. Quimby put me on sertraline last week."
MEMORY = "# Long-term Memory\n\n- Sertraline, prescribed by Quimby.\n- Enjoys rye bread with cheese.\n"


def writes(asked: Asked) -> Reply:
    name = asked.body.get("response_format", {}).get("json_schema", {}).get("name")
    if name != "Extraction":
        return fails(400)
    lines = {"daily_entry": "", "memory_update": MEMORY, "profile_update": ""}
    return says_json({"should_update": True, "reason": "It was said.", **lines})


async def test_a_line_in_other_words_goes_with_its_statement(
    talking: Runtime, scripted: ScriptedModel, conninfo: str
) -> None:
    scripted.script = writes
    talk = Talk(talking)
    others = ("The garden needs water in the evening, as it has not rained since the first of the month.", "I see.")
    await talk.say(f"I like rye bread with cheese. {SAID}", "I see.", *others, *others)
    await complete(talk)
    await drain(talking, until=datetime.now(UTC) + timedelta(hours=1))
    grant, place = await talk.grant()
    written = (await talking.workspace.present(place, ["MEMORY.md"]))["MEMORY.md"][1]
    assert "Sertraline, prescribed by Quimby." in written
    dry = await forget_all(talking, grant, place, text=SAID, dry_run=True)
    assert "Sertraline, prescribed by Quimby." in [item.text for item in dry.items]
    await forget_all(talking, grant, place, text=SAID)
    assert leftovers(conninfo, "sertraline") == leftovers(conninfo, "quimby") == []
    written = (await talking.workspace.present(place, ["MEMORY.md"]))["MEMORY.md"][1]
    assert written == "# Long-term Memory\n\n- Enjoys rye bread with cheese.\n"
    assert_index_consistent(conninfo)


async def test_a_line_that_a_file_had_before_goes_with_the_statement_that_holds_it(
    runtime: Runtime, conninfo: str
) -> None:
    talk = Talk(runtime)
    line = "I keep the spare key under the blue flowerpot."
    said = f"As my neighbour knows, {line[0].lower()}{line[1:]}"
    await talk.say(said, "I see.")
    await talk.put("MEMORY.md", f"# Long-term Memory\n\n- {line}\n- Enjoys rye bread with cheese.\n")
    grant, place = await talk.grant()
    async with runtime.database.tenant(place.tenant_id) as connection:
        [slice_id] = await own_slices(connection, place)
        derived = Derived("MEMORY.md", [line], EXTRACTIVE, "extraction", [])
        await record(connection, place.tenant_id, slice_id, [derived])
    await talk.put("MEMORY.md", "# Long-term Memory\n\n- Enjoys rye bread with cheese.\n")
    await forget_all(runtime, grant, place, text=said)
    assert leftovers(conninfo, "flowerpot") == []
    written = (await runtime.workspace.present(place, ["MEMORY.md"]))["MEMORY.md"][1]
    assert written == "# Long-term Memory\n\n- Enjoys rye bread with cheese.\n"
