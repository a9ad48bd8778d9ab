"""Changes told in words that no pattern knows replace what held, with the real embedding model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.embedders import runtime_with
from tests.facts import read_facts, rows
from tests.integration.test_superseded import find
from tests.talks import ADA, Talk

from reverie_bench.unfitted import Unfitted
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.embed.built_in import E5, MINILM
from reverie_indexer.embed.local import LocalEmbedder, load_local
from reverie_indexer.index.slices import own_slices
from reverie_server.access.keys import OPERATOR
from reverie_server.facts.view import FactFilter
from reverie_server.heuristics.changes.change_pairs import pair_models
from reverie_server.heuristics.fact_sentences import sentence_key
from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime
from reverie_server.search.superseded import superseded_sentences
from reverie_server.sessions.model import NewMessage

MARCH = datetime(2026, 3, 3, 9, tzinfo=UTC)


@pytest.fixture(scope="module", params=[E5, MINILM], ids=lambda model: model.name)
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LocalEmbedder:
    return load_local(tmp_path_factory.mktemp("graphs"), request.param)


@pytest.fixture
async def reader(database: Database, embedder: LocalEmbedder) -> Runtime:
    return await runtime_with(database, embedder)


async def talk_of(runtime: Runtime, *texts: str) -> Talk:
    """What a user says on days one after the other, each in a conversation of its own."""
    for number, text in enumerate(texts):
        talk = Talk(runtime, f"web:{number}")
        await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=number))])
        await read_facts(talk)
    return talk


def states(facts: list[dict[str, object]]) -> dict[str, str]:
    return {str(fact["text"]): str(fact["state"]) for fact in facts}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My rent is 850 a month.", "The landlord raised it to 920."),
        ("My daughter Lena is in kindergarten.", "Lena started first grade today."),
        ("Band practice is on Sunday afternoons.", "We rehearse on Thursday evenings from now on."),
        ("My flight to Denver leaves at 7:40.", "The airline changed my flight, it leaves at 9:15 now."),
        ("My locker is number 12.", "They moved me to locker 31."),
    ],
)
async def test_a_change_in_words_of_its_own_replaces_what_held(reader: Runtime, old: str, new: str) -> None:
    talk = await talk_of(reader, "My favourite colour is teal.", old, "My boss is Bruno Hahn.", new)
    facts = await rows(talk)
    by_text = {str(fact["text"]): fact for fact in facts}
    replaced = [fact for fact in facts if fact["text"] == old and fact["is_functional"]]
    assert {fact["state"] for fact in replaced} == {"superseded"}
    assert {fact["superseded_by"] for fact in replaced} == {by_text[new]["fact_id"]}
    assert states(facts)["My boss is Bruno Hahn."] == "current"


async def test_another_model_of_the_same_name_reads_nothing_by_meaning(
    database: Database, embedder: LocalEmbedder
) -> None:
    runtime = await runtime_with(database, Unfitted(embedder))
    talk = await talk_of(runtime, "My rent is 850 a month.", "The landlord raised it to 920.")
    assert {fact["state"] for fact in await rows(talk) if "850" in str(fact["text"])} == {"current"}


@pytest.mark.parametrize(
    "said",
    [
        "My sister's landlord raised her rent to 920.",
        "Maybe we will move to a flat for 920 one day.",
        "Should I pay 920 a month for a flat?",
        "I got new shoes and a coffee machine this week.",
        "The new kitten has chewed up two of my cables already.",
    ],
)
async def test_what_is_about_something_else_replaces_nothing(reader: Runtime, said: str) -> None:
    talk = await talk_of(reader, "My rent is 850 a month.", "My favourite colour is teal.", said)
    assert {fact["state"] for fact in await rows(talk) if "850" in fact["text"]} == {"current"}


PAIRS = [
    ("I do all my sewing on an old Singer, it was my gran's.", "The Singer went to the tip, I sew on a Pfaff now."),
    ("Zum Nähen nehme ich die alte Singer von der Oma.", "Die Singer ist im Müll, ich nähe jetzt mit einer Pfaff."),
    ("Coso todo en una Singer vieja de la abuela.", "La Singer acabó en la basura, ahora coso con una Pfaff."),
    ("我做衣服用的是奶奶那台老胜家缝纫机。", "老胜家缝纫机扔了，现在做衣服换成重机牌了。"),
    # As near as what is said again, and no word of change.
    ("Rory has two naps, at half nine and at one.", "Rory's down to a single sleep, from twelve till two."),
]


@pytest.mark.parametrize(("old", "new"), PAIRS)
async def test_what_no_pattern_reads_is_replaced_by_what_says_it_otherwise(
    reader: Runtime, embedder: LocalEmbedder, old: str, new: str
) -> None:
    if embedder.identity.name not in pair_models():
        pytest.skip("no model of pairs was made for it")
    talk = await talk_of(reader, "Greta plays chess with me.", old, "It has rained all week.", new)
    facts = states(await rows(talk))
    assert facts.get(old) == "superseded"
    assert facts.get(new) == "current"
    # A model judged it, so that who reads the old sentence sees it with the day.
    assert await is_likely(reader, old)


async def test_a_sentence_that_is_a_fact_for_another_alone_is_found_and_not_listed(
    reader: Runtime, embedder: LocalEmbedder
) -> None:
    """The list is of facts of a person; "Rory has two naps … is: Rory's down to a single sleep …" is none to read."""
    if embedder.identity.name not in pair_models():
        pytest.skip("no model of pairs was made for it")
    old, new = PAIRS[4]
    talk = await talk_of(reader, "My boss is Bruno Hahn.", old, "It has rained all week.", new)
    assert states(await rows(talk)).get(old) == "superseded"

    async def listed(query: str | None = None) -> set[str]:
        grant = await reader.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
        found = await reader.facts.view.facts(grant.principal, FactFilter(query=query), after=None, limit=50)
        return {fact.text for fact in found}

    assert await listed() == {"My boss is Bruno Hahn."}
    assert {old, new} <= await listed("Rory")


async def test_people_in_a_sentence_do_not_hide_what_it_ends(reader: Runtime, embedder: LocalEmbedder) -> None:
    """The price is the printer's, and it is not the printer who prints their own book."""
    if embedder.identity.name not in pair_models():
        pytest.skip("no model of pairs was made for it")
    old = "It is Cawley Press who are going to print the book for us, since they did the calendar so nicely."
    new = "We had to take the book away from Cawley Press, who doubled their price overnight, and Redfern print it."
    others = [
        f"The {thing} is in the {place}." for thing in ("ladder", "kettle", "drill") for place in ("shed", "attic")
    ]
    talk = await talk_of(reader, old, *others, new)
    assert states(await rows(talk)).get(old) == "superseded"


async def test_a_sentence_of_which_no_fact_can_end_ends_as_a_whole(reader: Runtime, embedder: LocalEmbedder) -> None:
    """What is read in it is who Clare is, and she stays the niece."""
    if embedder.identity.name not in pair_models():
        pytest.skip("no model of pairs was made for it")
    old = "My niece Clare is getting the upright piano, there is no room for it here."
    talk = await talk_of(
        reader,
        old,
        "It has rained all week.",
        "I've changed my mind, the upright piano is not going to Clare after all, it stays here.",
    )
    facts = await rows(talk)
    assert {str(fact["state"]) for fact in facts if fact["predicate"] == "niece"} == {"current"}
    assert await is_likely(reader, old)


async def test_what_was_said_long_ago_and_is_imported_now_is_known_to_be_over(
    reader: Runtime, embedder: LocalEmbedder
) -> None:
    """Nothing that was said since says it again when the old conversation comes in."""
    if embedder.identity.name not in pair_models():
        pytest.skip("no model of pairs was made for it")
    old, new = PAIRS[0]
    talk = await talk_of(reader, "Greta plays chess with me.", new, "It has rained all week.")
    imported = Talk(reader, "web:old")
    await imported.add([NewMessage("user", f"{old} I was born in Cremona.", at=MARCH - timedelta(days=700))])
    await read_facts(imported)
    facts = await rows(talk)
    assert states(facts).get(old) == "superseded"
    assert await is_likely(reader, old)
    assert "superseded" not in {str(fact["state"]) for fact in facts if "Cremona" in str(fact["text"])}


@pytest.mark.parametrize(
    ("stale", "lasting"),
    [
        (
            "I fit tyres at Aire Valley Motors on the ring road.",
            "I can't stand coriander, it tastes of soap.",
        ),
        ("Abends jobbe ich in einer Kneipe namens Zapfhahn.", "Meine Großmutter war Hebamme in Husum."),
    ],
)
async def test_old_talk_that_is_imported_says_what_ended_when_it_fell_silent(
    reader: Runtime, embedder: LocalEmbedder, stale: str, lasting: str
) -> None:
    """Nobody said since that it is otherwise, and nobody can know that it holds."""
    if embedder.identity.name not in pair_models():
        pytest.skip("no model of pairs was made for it")
    await talk_of(reader, "Greta plays chess with me.", "It has rained all week.")
    at = MARCH - timedelta(days=900)
    for number, text in enumerate((stale, lasting)):
        await Talk(reader, f"web:old-{number}").add([NewMessage("user", text, at=at + timedelta(days=number))])
    await read_facts(Talk(reader, "web:old-0"))
    facts = await rows(Talk(reader, "web:old-0"))
    assert states(facts)[stale] == "superseded"
    assert "superseded" not in {str(fact["state"]) for fact in facts if lasting in str(fact["text"])}
    found = {result.text: result.valid_to for result in await find(Talk(reader), stale)}
    assert found[stale] is not None
    assert found[lasting] is None


async def test_what_is_plain_by_its_value_is_more_than_likely(reader: Runtime) -> None:
    old, new = "My rent is 850 a month.", "The landlord raised it to 920."
    await talk_of(reader, old, new)
    assert not await is_likely(reader, old)


async def is_likely(runtime: Runtime, sentence: str) -> bool:
    key = sentence_key(sentence)
    async with runtime.database.tenant("default") as connection:
        slices = await visible_slices(connection, "default", "wren", ADA)
        ids = [slice_.slice_id for slice_ in slices]
        return (await superseded_sentences(connection, "default", ids, [key], now=datetime.now(UTC)))[key].is_likely


@pytest.mark.parametrize(
    "said",
    [
        "The Singer has a new needle and runs like a dream.",
        "My sister has bought a Pfaff now.",
        "I might get a Pfaff one day.",
        "We went to the cinema instead.",
    ],
)
async def test_what_says_more_of_it_or_something_else_leaves_it(reader: Runtime, said: str) -> None:
    old = "I do all my sewing on an old Singer, it was my gran's."
    talk = await talk_of(reader, "Greta plays chess with me.", old, said)
    assert "superseded" not in {str(fact["state"]) for fact in await rows(talk)}


async def test_read_again_it_comes_to_the_same(reader: Runtime) -> None:
    talk = await talk_of(reader, "My rent is 850 a month.", "The landlord raised it to 920.")
    before = [(fact["text"], fact["state"], fact["superseded_by"]) for fact in await rows(talk)]
    _, place = await talk.grant()
    await reader.facts.upkeep.rebuild(place)
    await read_facts(talk)
    after = [(fact["text"], fact["state"], fact["superseded_by"]) for fact in await rows(talk)]
    assert before == after
    assert ("My rent is 850 a month.", "superseded") in {(text, state) for text, state, _ in after}


async def test_what_the_words_tell_is_not_told_twice(reader: Runtime) -> None:
    talk = await talk_of(
        reader, "The meeting is on Tuesday at ten.", "Change of plan: the meeting was moved to Thursday."
    )
    facts = [(fact["predicate"], fact["state"]) for fact in await rows(talk)]
    assert sorted(facts) == [("when", "current"), ("when", "superseded")]


async def test_who_has_left_is_not_who_is_it_now(reader: Runtime) -> None:
    talk = Talk(reader)
    texts = ("My boss is Gareth Pugh.", "My new boss is Sunniva Dahl.", "Gareth Pugh has retired, I sent him a card.")
    for number, text in enumerate(texts):
        await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=number))])
        if number == 0:
            await read_facts(talk)
    await read_facts(talk)
    bosses = {fact["object"]: fact["state"] for fact in await rows(talk) if fact["predicate"] == "boss"}
    assert bosses["Sunniva Dahl"] == "current"
    assert [name for name, state in bosses.items() if state == "current"] == ["Sunniva Dahl"]


VALUES = [
    (
        "All twelve lifts are supposed to be in by 3 October.",
        "We got two weeks more, so it's 17 October for the lifts.",
    ),
    (
        "I've put 900 euro aside for a telescope.",
        "The house ate a piece of it, so I can't go over 650 for the telescope.",
    ),
    ("He gave me the code for the yard gate, 5830.", "The yard gate opens with 2714 these days."),
    (
        "Tuesdays I have cricket nets, and last night I bowled for an hour without warming up.",
        "I used to have Tuesday evenings for cricket, but the nets were put on a Thursday, which suits me better.",
    ),
]


@pytest.mark.parametrize(("old", "new"), VALUES)
async def test_another_value_of_the_same_replaces_what_was_said(reader: Runtime, old: str, new: str) -> None:
    talk = await talk_of(reader, "Tell me a joke, please.", f"{old}\n\nOk.", new)
    facts = await rows(talk)
    by_text = {str(fact["text"]): fact for fact in facts}
    assert by_text[old]["state"] == "superseded"
    assert by_text[old]["superseded_by"] in {fact["fact_id"] for fact in facts if fact["text"] == new}
    assert by_text[new]["state"] == "current"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The code for the garage is 1234.", "Somebody gave me the code for the gym locker, it was 9876."),
        ("I ran 5 kilometers in Riverside Park last Sunday.", "I ran 8 kilometers in Riverside Park yesterday."),
        ("Lunch with Anna is on Tuesday at the harbour.", "Lunch with Ben takes place on Friday at the harbour."),
        ("The Basel project has 3 phases.", "There are 12 people on the Basel project."),
        ("The house was built in 1930.", "The roof of the house costs us 8000."),
        ("We are 4 at home.", "We sleep in room 12 of the hotel."),
        ("The printer at work has the code 4471.", "The printer at home has the code 8080."),
        ("If it rains, the match takes place on Friday at the lake.", "Somebody said the match would be on Sunday."),
    ],
)
async def test_a_value_of_something_else_replaces_nothing(reader: Runtime, old: str, new: str) -> None:
    talk = await talk_of(reader, old, new)
    assert "superseded" not in {fact["state"] for fact in await rows(talk)}


async def test_values_follow_each_other_and_the_last_one_holds(reader: Runtime) -> None:
    texts = (
        "All twelve lifts are supposed to be in by 3 October.",
        "We got two weeks more, so it's 17 October for the lifts.",
        "The board wants an extra test for every lift, which leaves us with 31 October as the end date.",
    )
    talk = Talk(reader)
    for number, text in enumerate(texts):
        await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=number))])
    await read_facts(talk)
    at_once = {str(fact["text"]): str(fact["state"]) for fact in await rows(talk) if fact["predicate"] == "is"}
    assert at_once == dict(zip(texts, ("superseded", "superseded", "current"), strict=True))
    by_day = {str(fact["text"]): str(fact["state"]) for fact in await rows(await talk_of(reader, *texts))}
    assert {text: by_day[text] for text in texts} == at_once


async def test_a_forgotten_change_leaves_what_it_replaced(reader: Runtime) -> None:
    talk = await talk_of(reader, "The locker in the hall opens with 5830.", "The hall locker: they made it 2714.")
    newest = [fact for fact in await rows(talk) if "2714" in str(fact["text"])]
    assert newest
    _, place = await talk.grant()
    async with reader.database.tenant(place.tenant_id) as connection:
        await own_slices(connection, place)
        deleted = await connection.execute("DELETE FROM messages WHERE content LIKE '%%2714%%'")
    assert deleted.rowcount == 1
    await reader.facts.upkeep.rebuild(place)
    await read_facts(talk)
    assert {str(fact["state"]) for fact in await rows(talk)} <= {"current"}


async def test_a_value_that_is_replaced_is_marked_in_the_memory_of_a_prompt(reader: Runtime) -> None:
    old = "We got two weeks more, so it's 17 October for the lifts."
    new = "The board wants an extra test for every lift, which leaves us with 31 October as the end date."
    talk = await talk_of(
        reader, "All twelve lifts are supposed to be in by 3 October.", f"{old} The school isn't happy."
    )
    await talk.put("MEMORY.md", f"- {old}\n- The boat is called Alma.\n")
    await read_facts(talk)
    await Talk(reader, "web:9").add([NewMessage("user", new, at=MARCH + timedelta(days=9))])
    await read_facts(talk)
    prompt = (await Talk(reader, "web:3").context("And now?")).system_prompt
    assert f"- {old} (until 2026-03-12)\n- The boat is called Alma.\n" in f"{prompt}\n"


async def test_the_day_of_a_sentence_says_nothing_of_the_people_in_it(reader: Runtime) -> None:
    old, new = "My boss Bruno Hahn has put the delivery off to Friday.", "The delivery comes on Monday, not on Friday."
    facts = await rows(await talk_of(reader, old, new))
    assert {fact["state"] for fact in facts if fact["predicate"] == "boss"} == {"current"}


async def test_a_line_of_memory_gives_way_to_what_replaced_it(reader: Runtime) -> None:
    talk = Talk(reader)
    _, place = await talk.grant()

    async def said(day: int, *texts: str) -> None:
        await talk.add([NewMessage("user", text, at=MARCH + timedelta(days=day)) for text in texts])
        await reader.sessions.complete(talk.principal, talk.session_id, "api")
        for stage in ("facts", "extraction"):
            await reader.consolidation.stages[stage].run(Work(stage, "default", talk.agent_id, talk.owner_key))

    await said(0, "He gave me the code for the yard gate, 5830. Please remember that.")
    assert "5830" in (await reader.workspace.present(place, ["MEMORY.md"]))["MEMORY.md"][1]
    await said(
        9, "It rained all week.", "They changed the lock of the yard gate, it's 2714 from today on.", "Is it late?"
    )
    archive = f"memory/archive/{datetime.now(UTC):%Y-%m}.md"
    found = await reader.workspace.present(place, ["MEMORY.md", archive])
    memory = found["MEMORY.md"][1]
    assert "5830" not in memory
    assert "- They changed the lock of the yard gate, it's 2714 from today on.\n" in memory
    assert "5830" in found[archive][1]
