"""Forgetting reaches reports: their candidates, diffs and topics."""

from __future__ import annotations

import pytest
from tests.forgetting import forget_all
from tests.nights import ADA, TEA, Nights, nights
from tests.rows import leftovers
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.forgettable import Selection
from reverie_server.forgetting.selection import Target
from reverie_server.nights import report_erase

QUOTED = 'The "kiln" stands behind the barn, as Ada says.'


@pytest.fixture
async def ada(database: Database, models: ModelSlot) -> Nights:
    ada = await nights(database, models)
    await ada.ready()
    await ada.note(1, QUOTED)
    await ada.emerge()
    ada.later(hours=1)
    await ada.emerge("api", topic=QUOTED)
    return ada


async def test_a_text_is_taken_out_of_reports_and_nothing_else_is(ada: Nights) -> None:
    async with ada.runtime.database.tenant("default") as connection:
        [own] = await own_slices(connection, ada.place)
        held = await report_erase.survey(connection, "default", [own], [TEA, '"kiln" stands', "zeppelin"])
        assert (held.reports, dict(held.texts)) == (2, {TEA: 1, '"kiln" stands': 2})
        assert (await report_erase.survey(connection, "default", [own], ["zeppelin"])).reports == 0
        taken = await report_erase.erase_texts(connection, "default", own, [QUOTED.upper()])
        assert taken.reports == 2
    focused, night = await ada.reports()
    assert (focused.promoted, focused.topic) == ([], "")
    assert "kiln" not in f"{focused}{night}"
    assert [one["text"] for one in night.promoted] == [TEA]
    assert f"+- {TEA}" in night.diff
    assert night.rejected == []


async def test_a_night_that_quotes_one_sentence_of_a_text_loses_it(ada: Nights) -> None:
    """What one said is forgotten as it was said, and a note has a sentence of it."""
    said = f"I'm fuming. {QUOTED} {TEA} And so on"
    async with ada.runtime.database.tenant("default") as connection:
        [own] = await own_slices(connection, ada.place)
        assert (await report_erase.survey(connection, "default", [own], [said])).reports == 2
        await report_erase.erase_texts(connection, "default", own, [said])
    focused, night = await ada.reports()
    assert "kiln" not in f"{focused}{night}"
    assert TEA not in f"{focused}{night}"
    assert (night.promoted, night.rejected) == ([], [])
    assert "MEMORY.md" in night.diff


async def test_a_line_loses_what_is_forgotten_and_keeps_the_rest(ada: Nights) -> None:
    ada.later(hours=1)
    await ada.emerge("api", topic="The rent is 900 pounds. The code of the shed gate is 7719.")
    assert "7719" in str(await ada.reports())
    async with ada.runtime.database.tenant("default") as connection:
        [own] = await own_slices(connection, ada.place)
        await report_erase.erase_texts(connection, "default", own, ["Lasting. The code of the shed gate is 7719. Ok."])
    reports = await ada.reports()
    assert "7719" not in str(reports)
    assert "The rent is 900 pounds." in str(reports)
    assert all(one["gate"] for report in reports for one in report.rejected)


async def test_forgetting_by_anybody_reaches_them_and_says_so(ada: Nights) -> None:
    grant, place = await ada.runtime.gate.write(OPERATOR, ada.agent_id, ADA, None)
    bo = ada.of("user:bo")
    await bo.ready()
    await bo.emerge()
    dry = await ada.runtime.forgetting.forget(grant, place, Target(text=TEA), dry_run=True)
    assert dry.removed["report"].files == 1
    receipt = await ada.runtime.forgetting.forget(grant, place, Target(text=TEA), dry_run=False)
    assert receipt.removed["report"].files == 1
    assert TEA not in str(await ada.reports())
    assert TEA in str(await bo.reports())


async def test_clearing_an_owners_files_clears_the_reports_of_them(ada: Nights) -> None:
    bo = ada.of("user:bo")
    await bo.emerge()
    clearing = ada.runtime.clearing
    await clearing.clear(ada.place, Selection(None, "memory/", ["document"]), dry_run=False)
    await clearing.clear(ada.place, Selection(None, None, ["document"]), dry_run=True)
    assert len(await ada.reports()) == 2
    await clearing.clear(ada.place, Selection(None, None, ["document"]), dry_run=False)
    assert (len(await ada.reports()), len(await bo.reports())) == (0, 1)


@pytest.mark.parametrize(
    ("asked", "stated"),
    [
        ("Please remember that the alarm code of the house is QX4711.", "The alarm code of the house is QX4711."),
        ("Don't forget that the alarm code of the house is QX4711.", "The alarm code of the house is QX4711."),
        ("Keep in mind that the alarm code of the house is QX4711.", "The alarm code of the house is QX4711."),
        ("Note that the alarm code of the house is QX4711.", "The alarm code of the house is QX4711."),
        ("Recuerda que el código de la alarma es QX4711.", "El código de la alarma es QX4711."),
        ("Souviens-toi que le code de l'alarme est QX4711.", "Le code de l'alarme est QX4711."),
        ("Ricorda che il codice dell'allarme è QX4711.", "Il codice dell'allarme è QX4711."),
        ("Merk dir, dass der Code der Alarmanlage QX4711 ist.", "Merk dir, dass der Code der Alarmanlage QX4711 ist."),
        ("请记住，我们家后门的钥匙放在QX4711号花盆下面。", "我们家后门的钥匙放在QX4711号花盆下面。"),
    ],
)
async def test_what_was_to_be_remembered_goes_without_the_words_that_asked(
    database: Database, models: ModelSlot, conninfo: str, asked: str, stated: str
) -> None:
    ada = await nights(database, models)
    await ada.note(1, asked, "Prefers tea to coffee.")
    await ada.emerge()
    assert stated in [one["text"] for one in [*(await ada.reports())[0].promoted, *(await ada.reports())[0].rejected]]
    talk = Talk(ada.runtime)
    await talk.put("DREAMS.md", f"# Dreams\n\n## 2026-04-02 02:00 emergence: 1 (report 1)\n\nConcluded: {stated}\n")
    grant, place = await talk.grant()
    await forget_all(ada.runtime, grant, place, text=asked)
    assert leftovers(conninfo, "qx4711") == []
    assert (await ada.runtime.tombstones.without_forgotten(place))(f"- {stated}\n- Tea.\n") == "- Tea.\n"
