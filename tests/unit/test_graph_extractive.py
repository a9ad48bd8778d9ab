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
        ("我住在北京,在谷歌工作。", []),
    ],
)
def test_a_few_other_languages(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_the_phrases_compile() -> None:
    assert {language: bool(found.phrases) for language, found in all_phrases().items()} == dict.fromkeys(
        ("english", "german", "spanish", "french"), True
    )
