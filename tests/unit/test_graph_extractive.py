"""The graph without a model: what is stated in plain words, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.graph.answers import Known
from reverie_server.graph.heuristics import extract
from reverie_server.graph.phrases import all_phrases
from reverie_server.sessions.model import Message, Role

NO_ENTITIES: list[str] = []


def message(seq: int, content: str, role: Role = "user") -> Message:
    return Message(seq, role, content, datetime(2026, 4, seq, tzinfo=UTC), 1)


def facts(*texts: str, known: tuple[Known, ...] = (), with_speaker: bool = True) -> list[str]:
    _, relations = extract([message(n, t) for n, t in enumerate(texts, 1)], known, with_speaker=with_speaker)
    return [f"{r.source} {r.name} {r.target}" for r in relations]


def types(*texts: str) -> dict[str, str]:
    entities, _ = extract([message(n, t) for n, t in enumerate(texts, 1)], (), with_speaker=True)
    return {entity.name: entity.type for entity in entities}


def test_people_their_work_and_where_they_live() -> None:
    texts = (
        "Ada works at Acme Corp.",
        "Ada works on Reverie and Atlas.",
        "Bo reports to Ada. Bo lives in Lisbon, Portugal.",
    )
    assert facts(*texts) == [
        "ada based_at acme-corp",
        "ada works_on reverie",
        "ada works_on atlas",
        "bo reports_to ada",
        "bo located_in lisbon",
        "bo located_in portugal",
    ]
    assert types(*texts) == {
        **{"Ada": "person", "Bo": "person", "Acme Corp": "organization", "Reverie": "project", "Atlas": "project"},
        **{"Lisbon": "location", "Portugal": "location"},
    }


def test_things_hang_together_where_something_tells_what_they_are() -> None:
    assert facts("Ada works on Reverie.", "Reverie depends on PostgreSQL. Reverie uses Redis.") == [
        "ada works_on reverie",
        "reverie depends_on postgresql",
        "reverie uses redis",
    ]
    # Nothing tells whether Zephyr is somebody or something.
    assert facts("Zephyr uses Redis.") == []
    atlas = Known(5, "atlas-1", "product", "Atlas")
    assert facts("Atlas uses Redis.", known=(atlas,)) == ["atlas-1 uses redis"]
    assert types("Ada manages the Platform team.")["Platform"] == "organization"


def test_the_speaker_and_those_around_them() -> None:
    said = (
        "My sister Clara lives in Rome.",
        "I work at Globex and I'm working on the Atlas project.",
        "My boss is Dana Scully.",
    )
    assert facts(*said) == [
        "clara related_to user",
        "clara located_in rome",
        "user based_at globex",
        "user works_on atlas",
        "user reports_to dana-scully",
    ]
    entities, _ = extract([message(1, "My name is Ada Lovelace and I live in London.")], (), with_speaker=True)
    first = entities[0]
    assert (first.external_id, first.name, first.aliases) == ("user", "Ada Lovelace", ("User",))
    # In the memory of a team nobody knows who says "I".
    assert facts(*said, with_speaker=False) == ["clara located_in rome"]


@pytest.mark.parametrize(
    "text",
    [
        "Does Ada work at Acme?",
        "If Ada works at Acme, we should ask her.",
        "Ada doesn't work at Acme.",
        "Maybe Ada works at Acme.",
        "Ada used to live in Rome.",
        "The plant works at night.",
        "It works for Windows, too.",
        "> Ada works at Acme.",
        "```\nAda works at Acme.\n```",
        "Anna sagt, der Hund wohnt in Hamburg und ist nicht da.",
        "Monday works for Ada.",
        "she works at acme.",
        "My sister is Italian.",
        "I don't think Ada works at Acme.",
        "Meine Schwester ist Lehrerin.",
        "我不在谷歌工作。",
        "我喜欢在公园工作。",
    ],
)
def test_what_is_not_stated_is_not_taken(text: str) -> None:
    assert facts(text) == []


def test_only_the_user_is_believed_and_ends_are_ends() -> None:
    _, relations = extract([message(1, "Ada works at Acme.", "assistant")], (), with_speaker=True)
    assert relations == []
    _, [over] = extract([message(2, "Ada no longer works at Acme.")], (), with_speaker=True)
    assert (over.name, over.since, over.until) == ("based_at", None, datetime(2026, 4, 2, tzinfo=UTC))
    _, [dated] = extract([message(2, "Ada works at Acme since 2024-05.")], (), with_speaker=True)
    assert dated.since == datetime(2024, 5, 1, tzinfo=UTC)


def test_addresses_paths_tickets_and_identifiers_are_things() -> None:
    found = types("See https://example.com/a.html?token=abc#x, src/app/main.py and PROJ-1234; it calls `rotateKeys`.")
    assert found == {
        "https://example.com/a.html": "document",
        "src/app/main.py": "document",
        "PROJ-1234": "task",
        "rotateKeys": "technology",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna wohnt in Berlin und ist nett zu mir.", ["anna located_in berlin"]),
        ("Ich arbeite bei Siemens und das ist gut.", ["user based_at siemens"]),
        ("Mi hermana Clara vive en Madrid y es feliz.", ["clara related_to user", "clara located_in madrid"]),
        ("Ma soeur Claire habite à Paris avec le chat.", ["claire related_to user", "claire located_in paris"]),
        ("我住在北京,在谷歌工作。", ["user located_in 北京", "user based_at 谷歌"]),
    ],
)
def test_a_few_other_languages(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def over(*texts: str) -> list[str]:
    """The relations that are said to have ended."""
    _, relations = extract([message(n, t) for n, t in enumerate(texts, 1)], (), with_speaker=True)
    return [f"{r.source} {r.name} {r.target}" for r in relations if r.since is None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada works on Orion and reports to Bruno.", ["ada works_on orion", "ada reports_to bruno"]),
        ("Mira and Jonas work on Atlas.", ["mira works_on atlas", "jonas works_on atlas"]),
        ("Mira and I work on Atlas.", ["mira works_on atlas", "user works_on atlas"]),
        ("I work at Globex and Bo lives in Rome.", ["user based_at globex", "bo located_in rome"]),
        ("Anna arbeitet an Orion und berichtet an Bruno.", ["anna works_on orion", "anna reports_to bruno"]),
        ("Mira und Jonas arbeiten an Atlas.", ["mira works_on atlas", "jonas works_on atlas"]),
        ("Ana trabaja en el proyecto Orión y reporta a Bruno.", ["ana works_on orión", "ana reports_to bruno"]),
        ("张伟负责猎户座项目，向陈静汇报。", ["张伟 manages 猎户座", "张伟 reports_to 陈静"]),
        ("张伟和李雷在猎户座项目工作。", ["张伟 works_on 猎户座", "李雷 works_on 猎户座"]),
    ],
)
def test_verbs_share_a_subject_and_a_verb_has_several(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("My boss is Bruno.", "Bruno left the company."), ["user reports_to bruno"]),
        (("My boss Bruno left the company last week.",), ["user reports_to bruno"]),
        (("Petra is my manager.", "Petra has left the team."), ["user reports_to petra"]),
        (("I no longer report to Bruno.",), ["user reports_to bruno"]),
        (("Ada doesn't work at Acme anymore.",), ["ada based_at acme"]),
        (("Bruno is no longer my boss.",), ["user reports_to bruno"]),
        (("Meine Chefin ist jetzt Lena.", "Lena hat die Firma verlassen."), ["user reports_to lena"]),
        (("Ich berichte nicht mehr an Bruno.",), ["user reports_to bruno"]),
        (("Mi jefa es Lena.", "Lena dejó la empresa."), ["user reports_to lena"]),
        (("Bruno ya no es mi jefe.",), ["user reports_to bruno"]),
        (("我的老板是王强。", "王强离职了。"), ["user reports_to 王强"]),
        (("陈静离开了团队。",), ["user reports_to 陈静"]),
        (("If Bruno left the company, Petra would be my boss.",), NO_ENTITIES),
        (("Bruno left early. I left Berlin at noon.",), NO_ENTITIES),
        (("Ada does not work at Acme.",), NO_ENTITIES),
        (("如果王强离职，我会很难过。",), NO_ENTITIES),
    ],
)
def test_what_is_over_has_ended_and_nothing_else(texts: tuple[str, ...], expected: list[str]) -> None:
    assert over(*texts) == expected


@pytest.mark.parametrize(
    "texts",
    [
        ("I report to Bruno.", "Carla takes over from Bruno."),
        ("I report to Bruno.", "My manager is Carla now."),
        ("I report to Bruno.", "Carla replaced Bruno as my manager."),
        ("Mein Chef heißt Bruno.", "Carla löst Bruno ab."),
        ("Mein Chef heißt Bruno.", "Carla ist meine neue Chefin."),
        ("Mi jefe se llama Bruno.", "Carla toma el relevo de Bruno."),
    ],
)
def test_a_successor_has_what_the_other_had(texts: tuple[str, ...]) -> None:
    assert facts(*texts) == ["user reports_to bruno", "user reports_to carla"]


def test_a_successor_in_chinese() -> None:
    assert facts("我向王强汇报。", "刘洋接替了王强。") == ["user reports_to 王强", "user reports_to 刘洋"]
    assert facts("刘洋从王强手里接手了猎户座项目。") == ["刘洋 manages 猎户座"]


def test_one_subject_named_again_is_one_and_two_of_one_name_are_two() -> None:
    texts = (
        "Petra is my new boss.",
        "My new boss Petra Lindqvist lives in Malmö.",
        "My neighbour Petra lives in Oslo.",
    )
    entities, relations = extract([message(n, t) for n, t in enumerate(texts, 1)], (), with_speaker=True)
    assert [(e.external_id, e.name) for e in entities if e.type == "person"] == [
        ("user", "User"),
        ("petra", "Petra Lindqvist"),
        ("petra-neighbour", "Petra"),
    ]
    located = [f"{r.source} {r.target}" for r in relations if r.name == "located_in"]
    assert located == ["petra malmö", "petra-neighbour oslo"]
    # Nobody knows which of them this is.
    assert facts(*texts, "Petra works at Acme.")[-1] == "petra-neighbour located_in oslo"


def test_a_pronoun_is_whom_the_words_before_it_name_and_nobody_where_they_name_two() -> None:
    assert facts("My sister Clara called. She works at Galp.")[-1] == "clara based_at galp"
    assert facts("My brother's name is Luis and he works for Bosch.")[-1] == "luis based_at bosch"
    assert facts("My sister Clara met Bob. He works at Galp.") == ["clara related_to user"]
    assert facts("My mother Teresa lives in Viseu. Yesterday I met Bob. He works for Bosch.")[-1] == (
        "teresa located_in viseu"
    )


def test_the_phrases_compile() -> None:
    assert {language: bool(found.verbs) for language, found in all_phrases().items()} == dict.fromkeys(
        ("english", "german", "spanish", "french"), True
    )


def test_what_begins_on_a_day_to_come_holds_from_then_on() -> None:
    texts = ("Ada lives in Lisbon.", "Ada works at Acme Corp.", "Ada works on Reverie from 1 June.")
    _, relations = extract([message(n, t) for n, t in enumerate(texts, 1)], (), with_speaker=True)
    held = {f"{r.source} {r.name} {r.target}": r.since for r in relations}
    assert held["ada based_at acme-corp"] == datetime(2026, 4, 2, tzinfo=UTC)
    assert held["ada works_on reverie"] == datetime(2026, 6, 1, tzinfo=UTC)
