"""What only looks like a fact about the user is none, and what looks like it and is one stays one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_indexer.embed.marks import Mark
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.marked_objects import is_none
from reverie_server.heuristics.marked_people import whole_marks
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.requests.likely_requests import likely_requests
from reverie_server.heuristics.requests.promises import promises_to_remember
from reverie_server.heuristics.stated_fact import Speaker, Utterance
from reverie_server.sessions.model import Message

AT = datetime(2026, 3, 9, tzinfo=UTC)


def read(language: str, *said: str, speaker: Speaker = "user") -> list[tuple[str, str, str]]:
    facts = read_facts([Utterance(text, AT, speaker) for text in said], language)
    return [(fact.subject, fact.predicate, fact.object) for fact in facts]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("chinese", "蹲在阳台上看鸟。"),
        ("chinese", "我天天看家长群看得眼睛痛。"),
        ("chinese", "我都住惯了。"),
        ("german", "Wir haben den Zaun gestrichen."),
        ("german", "Wir haben das Wohnzimmer blau gestrichen."),
        ("german", "Den Zaun habe ich gestrichen."),
        ("german", "Ich fahre außenrum."),
        ("german", "Ich bin total im Verzug wegen dem nassen Februar."),
        ("english", "I have returned the money."),
        ("spanish", "Me hicieron una colonoscopia."),
    ],
)
def test_it_states_no_fact(language: str, said: str) -> None:
    assert read(language, said) == []


@pytest.mark.parametrize(
    ("language", "said", "fact"),
    [
        ("chinese", "钥匙放在抽屉里。", ("钥匙", "located", "抽屉里")),
        ("chinese", "我天天去健身房。", ("user", "habit", "天天去健身房")),
        ("chinese", "我住玉林。", ("user", "lives_in", "玉林")),
        ("german", "Wir haben den Urlaub gestrichen.", ("user", "quit", "Urlaub")),
        ("german", "Ich fahre einen alten Polo.", ("user", "drives", "alten Polo")),
        ("german", "Ich bin Pfleger im Klinikum Nord.", ("user", "works_at", "Klinikum Nord")),
        ("german", "Wir wohnen in Gersthofen in der Bahnhofstraße.", ("user", "lives_in", "Gersthofen")),
        ("english", "I moved to York last weekend.", ("user", "lives_in", "York")),
        ("english", "I've changed dentists, it's Dr. Brandt now.", ("user", "dentist", "Dr. Brandt")),
        ("spanish", "Soy veterinario acá en Guadalajara.", ("user", "works_as", "veterinario")),
        ("spanish", "Me hicieron encargada.", ("user", "works_as", "encargada")),
        ("spanish", "Chambeo en la clínica Huellitas.", ("user", "works_at", "clínica Huellitas")),
        (
            "english",
            "Our neighbour Mr. Voss lent us his ladder. He is deaf in one ear.",
            ("Mr. Voss", "is", "deaf in one ear"),
        ),
    ],
)
def test_it_states_the_fact(language: str, said: str, fact: tuple[str, str, str]) -> None:
    assert fact in read(language, said)


@pytest.mark.parametrize(
    ("language", "line", "facts"),
    [
        ("english", "One more thing: I have to write to the concert hall.", []),
        ("english", "New number: my phone is 0161 555 0199 now.", [("user", "phone", "0161 555 0199")]),
        ("german", "Sie schreibt: Das Haus ist verkauft.", []),
        ("chinese", "他说：房子卖了", []),
        ("english", "Anna likes: green tea", [("Anna likes", "is", "green tea")]),
        ("english", "IT support: extension 4471", [("IT support", "is", "extension 4471")]),
        ("german", "Ihr Termin: Dienstag", [("Ihr Termin", "is", "Dienstag")]),
    ],
)
def test_what_leads_to_a_sentence_is_no_subject(language: str, line: str, facts: list[tuple[str, str, str]]) -> None:
    assert read(language, line, speaker="file") == facts


@pytest.mark.parametrize(
    ("said", "is_promised"),
    [
        ("我觉得有点冷。", False),
        ("我今天很累。", False),
        ("谢谢你，我明白了。", False),
        ("我们昨天去看了电影。", False),
        ("I've just had lunch.", False),
        ("I put the key under the mat yesterday.", True),
        ("Gestern habe ich den Code auf 4471 geändert.", True),
        ("The plumber comes tomorrow.", True),
    ],
)
def test_of_thanks_feelings_and_what_was_just_done_nothing_is_promised(said: str, is_promised: bool) -> None:
    assert promises_to_remember("好的，记住了。", said) == is_promised


def test_single_quotation_marks_quote() -> None:
    said = "Ada called. She said, 'I live in Oslo and I don't mind: I love skiing.'"
    messages = [Message(1, "user", said, AT, 1, "1", {})]
    assert memorable_of(messages, "english", "UTC").lines == []
    assert read("english", "I'm fond of the dogs' park, and I live in Oslo.") != []


@pytest.mark.parametrize(("said", "count"), [("I always peek.", 0), ("I always peel the apples first.", 1)])
def test_what_one_always_does_is_said_with_it(said: str, count: int) -> None:
    messages = [Message(1, "user", said, AT, 1, "1", {})]
    assert len(memorable_of(messages, "english", "UTC").lines) == count


def test_who_keeps_doing_a_thing_asks_for_nothing() -> None:
    assert likely_requests("remember", ["I keep having to look up which one it is."]) == []
    assert likely_requests("remember", ["I keep losing that code so hang on to it and keep it for me."]) != []


def mark_of(label: str, text: str, value: str) -> tuple[str, Mark, str]:
    start = text.index(value)
    return text, Mark(start, start + len(value), label, 0.9), value


@pytest.mark.parametrize(
    ("label", "text", "value", "expected"),
    [
        ("job", "I've changed dentists, it's Dr. Brandt now.", "dentists", True),
        ("job", "I've changed careers, I'm a dentist now.", "dentist", False),
        ("job", "我换牙医了", "牙医", True),
        ("job", "我是牙医", "牙医", False),
        ("job", "Ich arbeite an Orion und berichte an Bruno Hart.", "berichte", True),
        ("job", "ich bin erzieherin in ner kita", "erzieherin", False),
        ("job", "在青岛开了一家咖啡馆。", "开了一家咖啡馆", True),
        ("job", "我的牙医是安医生。", "安医生", True),
        ("employer", "I'm at the airport in Oslo waiting for my plane.", "airport in Oslo", True),
        ("employer", "I'm at the hospital this year, night shifts on ward 6.", "hospital", False),
        ("employer", "I'm at Siemens now.", "Siemens", False),
        ("home", "Me dedico a la carpintería, tengo un taller en Toledo.", "Toledo", True),
        ("home", "我在青岛开了一家咖啡馆。", "青岛", True),
        ("home", "Vivo en Toledo.", "Toledo", False),
    ],
)
def test_what_a_mark_cannot_be(label: str, text: str, value: str, expected: bool) -> None:
    assert is_none(*mark_of(label, text, value)) == expected


@pytest.mark.parametrize(("text", "name"), [("我妹妹林艾来玩了。", "林艾"), ("我妹妹叫林艾来。", "林艾来")])
def test_a_name_in_characters_ends_before_what_its_bearer_does(text: str, name: str) -> None:
    [mark] = whole_marks(text, [mark_of("person", text, "林艾来")[1]])
    assert text[mark.start : mark.end] == name
