"""Conversations over the running system without a model, and what MEMORY.md and PROFILE.md hold after them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from tests.talks import Talk

from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

START = datetime(2026, 5, 4, 9, tzinfo=UTC)


async def hear(runtime: Runtime, *conversations: Sequence[str], days: int = 3) -> tuple[list[str], list[str]]:
    """The entries of MEMORY.md and PROFILE.md after conversations, each some days after the one before."""
    talk = Talk(runtime)
    for number, texts in enumerate(conversations):
        talk = Talk(runtime, f"web:{number}")
        at = START + timedelta(days=days * number)
        await talk.add(
            [
                message
                for text in texts
                for message in (NewMessage("user", text, at=at), NewMessage("assistant", "All right.", at=at))
            ]
        )
        await runtime.sessions.complete(talk.principal, talk.session_id, "api")
        outcome = await runtime.consolidation.stages["extraction"].run(
            Work("extraction", "default", "wren", "user:ada")
        )
        assert outcome.status in ("completed", "skipped"), outcome
    return await entries(talk, "MEMORY.md"), await entries(talk, "PROFILE.md")


async def entries(talk: Talk, path: str) -> list[str]:
    _, place = await talk.grant()
    found = await talk.runtime.workspace.present(place, [path])
    text = found[path][1] if path in found else ""
    return [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["The Wi-Fi password of the cabin is trout-lake-77. Please remember that."], "trout-lake-77"),
        (["The spare key is under the blue pot.", "Please remember that."], "The spare key is under the blue pot."),
        (["Remember: the locker at the gym is number 4711."], "The locker at the gym is number 4711."),
        (["The code of the garage is 2299, keep that in mind."], "The code of the garage is 2299"),
        (["Das WLAN-Passwort im Ferienhaus ist Möwe-2211. Bitte merk dir das."], "Möwe-2211"),
        (["La contraseña del wifi de la oficina es Roble-88. Por favor, recuérdalo."], "Roble-88"),
        (["办公室的Wi-Fi密码是bamboo-33。请记住这个。"], "bamboo-33"),
    ],
)
async def test_what_a_person_asks_to_remember_is_in_the_memory(
    runtime: Runtime, texts: Sequence[str], kept: str
) -> None:
    """`- Please remember that.` was all that entered, and no password."""
    memory, _ = await hear(runtime, texts)
    assert len(memory) == 1
    assert kept in memory[0]
    assert "remember" not in memory[0].casefold()


async def test_a_password_that_nobody_asked_to_keep_is_not_in_the_memory(runtime: Runtime) -> None:
    memory, profile = await hear(runtime, ["The Wi-Fi password of the cabin is trout-lake-77.", "Thanks!", "I am off."])
    assert (memory, profile) == ([], [])


async def test_the_profile_is_filled_when_people_say_who_they_are_and_follows_their_lives(runtime: Runtime) -> None:
    first = ["Hi! I'm Nora Lindqvist, I work as a nurse at Vivantes.", "I live in Berlin.", "My boss is Petra Holm."]
    later = ["I moved to Hamburg last week.", "My new boss is Bruno Meyer.", "That is all for now."]
    _, profile = await hear(runtime, first)
    assert profile[0] == "I'm Nora Lindqvist."
    assert "I work as a nurse at Vivantes." in profile
    assert "I live in Berlin." in profile
    _, profile = await hear(runtime, first, later)
    text = "\n".join(profile)
    assert "Berlin" not in text
    assert "Petra" not in text
    assert "Hamburg" in text
    assert "Bruno Meyer" in text
    assert "Nora Lindqvist" in text


async def test_a_line_of_an_import_of_old_talk_has_its_day(runtime: Runtime) -> None:
    recent = ["I'm Ruth Pemberton.", "My boss is Petra Holm.", "That is all for now."]
    old = ["I live in Palmerston North.", "I can't eat gluten, please remember that.", "That is all for now."]
    memory, profile = await hear(runtime, recent, old, days=-400)
    assert profile == ["I'm Ruth Pemberton.", "My boss is Petra Holm.", "I live in Palmerston North. (2025-03-30)"]
    assert memory == ["I can't eat gluten"]


async def test_a_line_that_a_person_wrote_stays(runtime: Runtime) -> None:
    await Talk(runtime).put("PROFILE.md", "# Profile\n\n- I live in Berlin.\n")
    _, profile = await hear(runtime, ["I moved to Hamburg last week.", "So far it is fine.", "Nothing else."])
    assert profile[0] == "I live in Berlin."
    assert any("Hamburg" in line for line in profile)


async def test_what_is_superseded_leaves_the_memory_for_the_archive(runtime: Runtime) -> None:
    first = [
        "My favourite tea is Assam.",
        "I prefer short answers without emojis.",
        "I'm working on the Orion migration.",
    ]
    later = ["My favourite tea is Darjeeling now.", "Orion is finished.", "Good day so far."]
    memory, _ = await hear(runtime, first, later)
    text = "\n".join(memory)
    assert "Assam" not in text
    assert "Darjeeling" in text
    assert "short answers" in text
    assert "Orion is finished." in text
    archive = await runtime.workspace.present(
        (await Talk(runtime).grant())[1], [f"memory/archive/{datetime.now(UTC):%Y-%m}.md"]
    )
    assert any("Assam" in content for _, content in archive.values())


async def test_filler_and_what_is_told_of_others_stays_out(runtime: Runtime) -> None:
    memory, profile = await hear(
        runtime,
        [
            "Thank you so much, you are great! I love that idea!",
            "I feel tired today. I like it.",
            "My friend Tom lost his job, he is sad.",
            "You should always drink enough water.",
            "I prefer the window seat today.",
            "Would you say that I prefer tea?",
            "My sister Ada is visiting. She cannot eat gluten.",
        ],
    )
    assert memory == ["My sister Ada cannot eat gluten."]
    assert profile == ["My sister is Ada."]


async def test_a_sentence_that_ends_one_thing_and_says_another_stays(runtime: Runtime) -> None:
    first = [
        "Guten Tag, mein Name ist Anke Vogt, ich bin Architektin bei Nordbau in Kiel.",
        "Mein Sohn heißt Ole.",
        "Das ist erst einmal alles.",
    ]
    later = [
        "Ich arbeite nicht mehr bei Nordbau, sondern bei Hansa Plan.",
        "Ich trinke lieber Kaffee als Tee.",
        "Sonst nichts Neues.",
    ]
    _, profile = await hear(runtime, first, later)
    assert "Ich bin Architektin bei Nordbau in Kiel." not in profile
    assert "Ich arbeite jetzt bei Hansa Plan." in profile


@pytest.mark.parametrize(
    ("said", "entry"),
    [
        ("Meine Frau heißt Gudrun, sie ist Lehrerin.", "Meine Frau ist Gudrun."),
        ("Mi marido se llama Chema y conduce un autobús.", "Mi marido es Chema."),
        ("My husband is called Col, he drives a bus.", "My husband is Col."),
        (
            "Mit meinem Bruder Jörn restauriere ich gerade ein altes Segelboot.",
            "Mit meinem Bruder Jörn restauriere ich gerade ein altes Segelboot.",
        ),
    ],
)
async def test_a_relation_alone_is_a_whole_sentence(runtime: Runtime, said: str, entry: str) -> None:
    _, profile = await hear(runtime, [said, "Na gut, so ist es eben."])
    assert profile == [entry]


@pytest.mark.parametrize(
    "said",
    ["My friend Tom has just bought a boat.", "Mein Nachbar Bernd hat ein Wohnmobil.", "Mi amigo Paco tiene un barco."],
)
async def test_an_acquaintance_of_whom_only_the_name_is_said_has_no_line(runtime: Runtime, said: str) -> None:
    assert await hear(runtime, [said, "So it goes."]) == ([], [])


@pytest.mark.parametrize(
    ("said", "entry"),
    [
        ("And I can't stand mushrooms.", "I can't stand mushrooms."),
        ("By the way, I prefer short answers.", "I prefer short answers."),
        ("顺便说一下，我最讨厌吃香菇。", "我最讨厌吃香菇。"),
    ],
)
async def test_a_line_begins_without_words_that_lead_on(runtime: Runtime, said: str, entry: str) -> None:
    memory, profile = await hear(runtime, [said, "Well then."])
    assert [*memory, *profile] == [entry]


async def test_two_wordings_of_one_statement_are_one_line(runtime: Runtime) -> None:
    said = "Seit gestern bin ich bei der Tischlerei Ahlers, meine neue Chefin heißt Renate Ahlers."
    _, profile = await hear(runtime, [said, "Na gut, so ist es eben."])
    assert profile == [f"{said} (2026-05-04)"]


async def test_a_line_whose_work_has_ended_leaves_with_its_place(runtime: Runtime) -> None:
    first = ["Ich arbeite bei Holz & Deichmann in Oldenburg.", "Na gut, so ist es eben."]
    _, profile = await hear(runtime, first, ["Ich bin jetzt bei der Tischlerei Ahlers.", "Na gut, so ist es eben."])
    assert not any("Deichmann" in line for line in profile)


async def test_the_name_of_a_child_is_not_the_name_of_the_user(runtime: Runtime) -> None:
    first = ["我叫何美玲。", "好的，我知道了，就这样吧。"]
    _, profile = await hear(runtime, first, ["我们有个女儿，叫小雨，在武汉念化学。", "好的，我知道了，就这样吧。"])
    assert "我叫何美玲。" in profile
    assert "我叫小雨。" not in profile


async def test_a_habit_that_has_ended_leaves_the_memory(runtime: Runtime) -> None:
    first = ["I always have a coffee first thing or I'm useless.", "Well, that is how it is."]
    assert (await hear(runtime, first))[0] == [first[0]]
    later = ["I've gone off coffee, it's tea for me now in the morning.", "Well, that is how it is."]
    memory, _ = await hear(runtime, first, later)
    assert first[0] not in memory


async def test_the_new_value_of_what_was_to_be_remembered_takes_its_place(runtime: Runtime) -> None:
    first = ["Please remember that the alarm code at the office is 4471.", "That is all for now."]
    later = ["Oh, and they have changed the alarm code at the office, it's 9026 now.", "See you tomorrow then."]
    memory, _ = await hear(runtime, first, later)
    assert memory == ["The alarm code at the office is now 9026."]
