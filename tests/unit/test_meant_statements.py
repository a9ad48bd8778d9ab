"""What of a long talk is looked at for one request to forget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.forgetting import choice, meant
from reverie_server.forgetting.echoes import behind, echoes
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.search.asked.heard import MAX_HEARD, Heard, HeardMessage, heard_before
from reverie_server.sessions.model import Message
from reverie_server.text.statement_spans import statements

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_of_a_message_of_thousands_of_sentences_few_are_asked_whether_they_are_to_be_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(meant, "asks_to_remember", lambda text: bool(looked_at.append(text)))
    earlier = [HeardMessage(["One."] * (MAX_HEARD - 1)), HeardMessage([f"Sentence {n}." for n in range(5000)])]
    assert meant._to_keep(earlier) == frozenset()
    assert len(looked_at) < 2 * MAX_HEARD


def test_all_of_a_message_that_asks_to_keep_something_is_kept() -> None:
    earlier = [HeardMessage(["The PIN is 4711.", "Please remember that."]), HeardMessage(["The bus was late."])]
    assert meant._to_keep(earlier) == {"The PIN is 4711.", "Please remember that."}


def test_only_what_stands_behind_the_forgotten_statement_repeats_it() -> None:
    page = [
        Message(1, "assistant", "The birthday of Anna is on the third.", AT, 1),
        Message(2, "user", "Anna has lost 500 euros.", AT, 1),
        Message(3, "assistant", "Anna lost 500 euros, I see.", AT, 1),
    ]
    assert behind(["Anna has lost 500 euros."], page) == [("Anna has lost 500 euros.", "Anna lost 500 euros, I see.")]


@pytest.mark.parametrize(
    ("said", "answer", "language", "repeated"),
    [
        (
            "On Friday they found a fibroid. The cat is fine.",
            "A fibroid is mostly harmless. Good to hear of the cat. Friday is a busy day.",
            "english",
            ["A fibroid is mostly harmless."],
        ),
        (
            "Am Freitag hat die Ärztin ein Myom gefunden. Der Kater frisst.",
            "Ein Myomgewebe ist meist harmlos. Wie geht es dem Kater?",
            "german",
            [],
        ),
        (
            "我从去年冬天开始在吃舍曲林。拔牙要注意什么？",
            "舍曲林一般不影响。拔牙后别漱口。",
            "chinese",
            ["舍曲林一般不影响。"],
        ),
        (
            "My sister had an abortion in May. What is on today?",
            "Today: dentist at 10. May 3 is Tom's birthday.",
            "english",
            [],
        ),
        ("I will meet Anna on Friday about the divorce.", "Booked. Anna's birthday is on Friday.", "english", []),
    ],
)
def test_an_answer_repeats_what_of_its_message_only_the_forgotten_statement_says(
    said: str, answer: str, language: str, repeated: list[str]
) -> None:
    [meant, *_] = statements(said)
    assert echoes([meant], [(said, answer)], language) == repeated


def test_a_message_that_is_the_first_of_its_day_goes_on_from_the_talk_before() -> None:
    page = [
        Message(1, "user", "The bus was late.", AT - timedelta(days=9), 1),
        Message(2, "user", "My PIN is 4711.", AT, 1),
        Message(3, "user", "Forget that.", AT + timedelta(days=2), 1),
    ]
    before = heard_before(page, 2, lambda at: [page[at].content])
    assert [each.sentences for each in before.talk] == [["My PIN is 4711."]]
    assert before.older == ["The bus was late."]


def test_of_what_a_request_names_one_that_is_far_ahead_is_taken() -> None:
    assert choice.far_ahead({"a": 0.4, "b": 0.05}) == ["a"]
    assert choice.far_ahead({"a": 0.4, "b": 0.15}) == []
    assert choice.far_ahead({"a": 0.3, "b": 0.01}) == []
    assert choice.far_ahead({"a": 0.4}) == []
    assert choice.far_ahead({"a": 0.46}) == ["a"]
    assert choice.far_ahead({}) == []


@pytest.mark.parametrize(
    ("sentence", "says_it"),
    [
        ("Don't write this down: I've been offered a job.", True),
        ("Das Folgende bitte nicht speichern: Mein Schwager ist auf Bewährung.", True),
        ("Und noch was: die Sache mit Lenes schlechter Note von letzter Woche, die vergiss bitte.", False),
        ("One more thing: what I said about the loan, please drop it.", False),
        ("That about the loan, please drop it.", False),
        ("Noch etwas: Was ich Ihnen unlängst in aller Eile über den Kredit anvertraut habe, tilgen Sie bitte.", False),
    ],
)
def test_what_stands_behind_a_colon_is_meant_unless_it_names_what_was_told(sentence: str, says_it: bool) -> None:
    assert meant._announces(sentence) is says_it


def test_of_what_a_request_names_nothing_of_another_matter_goes() -> None:
    [request] = forget_requests("Vergiss das mit dem Schlüssel im Blumentopf, den haben sie woanders hingetan.")
    key = "Der Schlüssel für die Praxis liegt im Blumentopf links."
    spare, flat = "Den zweiten hat der Hausmeister.", "Wir haben eine Wohnung in Altona gefunden!"
    heard = [Heard(key, "earlier", following=spare), Heard(spare, "earlier", previous=key), Heard(flat, "earlier")]
    chosen = [key, spare, flat]
    assert choice.of_what_is_named(request, heard, chosen, [], frozenset({key})) == [key, spare]
    assert choice.of_what_is_named(request, heard, [spare, flat], [key], frozenset({key})) == [spare]
    # Where nothing has a word of it, it is named in others.
    assert choice.of_what_is_named(request, heard, [flat], [], frozenset()) == [flat]
