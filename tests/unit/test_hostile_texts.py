"""Hostile texts, word for word as they were found: each call comes back, and says what it should.

That time grows no faster than the text is held by `test_text_is_linear.py`; here are those that never came back at all,
or came back as an error.
"""

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from tests.linear.texts import message

from reverie_server.episodes.topics import key_topics
from reverie_server.graph.periods import DatedStatement, periods
from reverie_server.heuristics import entries
from reverie_server.heuristics.extract import notes_of
from reverie_server.heuristics.statements import is_duplicate, statement
from reverie_server.llm.answers import Flush
from reverie_server.llm.parse import InvalidAnswer, parse_answer
from reverie_server.llm.streamed import StreamedAnswer
from reverie_server.long_term import guard
from reverie_server.nights import diary
from reverie_server.nights.emergence import collect, model
from reverie_server.nights.emergence import text as emergence_text
from reverie_server.nights.emergence.candidates import Rules
from reverie_server.provenance import line_identity as lines

UNDERSCORES = f"Please have a look at `{'a_' * 36}a@b` in the log."
DAY = date(2026, 4, 3)


@pytest.mark.parametrize("unit", ["a_", "a-", "a_-", "a/", "_/a.", "A_", "a.b_"])
def test_a_name_of_very_many_parts_is_looked_at_once(unit: str) -> None:
    for times in (36, 90):
        assert key_topics([f"Please have a look at `{unit * times}a@b` in the log of Ada Lovelace."]) != []
    assert key_topics([UNDERSCORES]) == []


def test_names_of_several_parts_are_topics_as_before() -> None:
    found = key_topics(["We keep user_id, src/app/main.py, PROJ-12 and camelCase in Reverie."])
    assert found == ["PROJ-12 and camelCase", "user_id", "src/app/main.py", "Reverie"]


@pytest.mark.parametrize("unit", ["'", "’", "-", ".", "/", "@", "A. ", "! ", "[10:00] User: "])
def test_a_statement_of_one_mark_again_and_again_is_compared(unit: str) -> None:
    said = statement(unit * (50_000 // len(unit)), "english")
    assert is_duplicate(said, said)


def test_a_word_ends_where_its_last_letter_does_and_a_name_is_one_within_a_sentence_only() -> None:
    said = statement("'Tom' met Ada's friend at O'Neill's... Then we left U.S.A. -- and Bo-", "english")
    assert said.words == (
        "'tom",
        "met",
        "ada's",
        "friend",
        "at",
        "o'neill's",
        "then",
        "we",
        "left",
        "u.s.a",
        "and",
        "bo",
    )
    assert said.values == {"ada's", "o'neill's", "u.s.a", "bo"}


def test_a_person_of_many_equal_lines_gets_candidates() -> None:
    words = ["Ada", "likes", "green", "tea", "and", "dark", "bread"]
    note = "\n".join(f"- I decided that {' '.join(words[n % 7 :] + words[: n % 7])} {n}." for n in range(700))
    found = entries.entries_of("memory/2026-04-03.md", note, DAY)
    memory = model.MemoryFile("MEMORY.md", 1, note, lines.entry_lines(note))
    setting = collect.ScoringContext(Rules(), datetime(2026, 4, 3, 12, tzinfo=UTC), "UTC", "english")
    candidates = collect.collect(model.EmergenceInput(entries=found, memory=memory), setting)
    assert len(candidates) == model.MAX_ENTRIES
    assert all(candidate.evidence.is_known for candidate in candidates)
    proposal = emergence_text.heuristic_proposal(memory, candidates, guard.GuardRules(), "english")
    assert proposal.text is None
    assert len(proposal.left) == len(candidates)


def test_a_run_of_emergence_adds_no_more_than_a_hundred() -> None:
    note = "\n".join(f"- I decided to keep w{n:03}x w{n + 400:03}y w{n + 800:03}z." for n in range(150))
    found = entries.entries_of("memory/2026-04-03.md", note, DAY)
    setting = collect.ScoringContext(Rules(), datetime(2026, 4, 3, 12, tzinfo=UTC), "UTC", "english")
    candidates = collect.collect(model.EmergenceInput(entries=found), setting)
    rules = guard.GuardRules(max_chars=1_000_000, max_growth=None)
    proposal = emergence_text.heuristic_proposal(None, candidates, rules, "english")
    assert (len(proposal.promoted), len(proposal.left)) == (emergence_text.MAX_ADDED, 50)
    assert {why for _, why in proposal.left} == {"room"}


@pytest.mark.parametrize(
    "text",
    [
        '{"lines":' * 900,
        '{"lines": [' * 400 + "]}" * 400,
        '{"a":' * 300 + "1" + "}" * 300,
        "{" * 100_000,
        "[" * 100_000,
        '{"a": ' + "[" * 100_000,
        '{"a": ' + "[" * 600 + "]" * 600 + "}",
        '{"a": ' + "1" * 100_000 + "}",
        '{"lines": ["' + "a" * 1000 + '"' + ', "b"' * 20_000,
        "```json\n" * 20_000,
    ],
    ids=lambda text: text[:12],
)
def test_an_answer_that_is_none_is_invalid_and_no_other_error(text: str) -> None:
    with pytest.raises(InvalidAnswer):
        parse_answer(text, Flush)


def test_an_answer_behind_brackets_without_an_end_is_found() -> None:
    assert parse_answer('{"a": ' * 60 + "\n" + '{"lines": ["Tea."]}', Flush).lines == ["Tea."]


def test_an_answer_in_the_smallest_pieces_is_put_together() -> None:
    chunk = {"choices": [{"delta": {"content": "tea " * 2000}, "finish_reason": "stop"}]}
    call = {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"arguments": "a"}}]}}]}
    body = b"".join(b"data: " + json.dumps(one).encode() + b"\r\n\r\n" for one in [*[call] * 3000, chunk])
    answer = StreamedAnswer()
    for at in range(len(body)):
        answer.feed(body[at : at + 1])
    found = answer.answer()
    assert found is not None
    assert found.content == "tea " * 2000
    assert found.tool_calls == ({"id": "c", "type": "function", "function": {"arguments": "a" * 3000}},)


def test_what_is_too_long_to_be_an_answer_is_none() -> None:
    chunk = {"choices": [{"delta": {"content": "tea " * 250_000}, "finish_reason": "stop"}]}
    event = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    answer = StreamedAnswer()
    for _ in range(20):
        answer.feed(event)
    assert answer.answer() is None


def test_a_line_without_an_end_is_let_go_and_what_follows_is_read() -> None:
    answer = StreamedAnswer()
    for _ in range(18):
        answer.feed(b"data: " + b"x" * 1_048_576)
    answer.feed(b'\n\ndata: {"choices": [{"delta": {"content": "tea"}, "finish_reason": "stop"}]}\n\n')
    found = answer.answer()
    assert found is not None
    assert found.content == "tea"


def test_a_diary_of_very_many_months_and_of_one_heading_again_and_again_is_rolled() -> None:
    text = "".join(f"## {year:04}-04-03 02:00 emergence: a\n\nkept: {year}\n\n" for year in range(1000, 9999))
    rolled = diary.rolled(text)
    assert rolled.text.endswith("kept: 9998\n")
    assert sum(map(len, rolled.moved.values())) == 8998
    entry = "## 2026-04-03 02:00 emergence: a"
    archived = diary.archived({}, "2026-04", [f"{entry}\n\nkept: {number}\n" for number in range(3000)])
    assert archived[1].count("kept:") == 3000
    assert diary.archived(archived, "2026-04", [f"{entry}\n\nkept: 7\n"]) == {}


def test_one_relation_that_changes_all_the_time_has_its_periods() -> None:
    now = datetime(2026, 4, 3, tzinfo=UTC)
    said = [DatedStatement(number, number, now + timedelta(minutes=number)) for number in range(5000)]
    found = periods(said, one_at_a_time=True)
    assert [period.other for period in found] == list(range(5000))
    assert [period.valid_to for period in found] == [*(one.since for one in said[1:]), None]


@pytest.mark.parametrize("unit", ["a@", "1", "a/", "eyJ-", "_", "a.", "A-", "ok, "])
def test_messages_of_shapes_that_are_looked_for_are_looked_through(unit: str) -> None:
    decided = "I decided that we will meet at the office in the morning, and that there is tea for all of us."
    found = notes_of([message(unit * (20_000 // len(unit))), message(decided, seq=2)])
    assert decided in {note.line for note in found}


def test_what_is_looked_for_in_sentences_is_found_as_before() -> None:
    sentences = ["Mail ada@example.com today.", "See src/app/main.py first.", "It runs on db.example.com:5432 now."]
    assert [note.line for note in notes_of([message(" ".join(sentences))])] == [" ".join(sentences)]


def test_of_very_many_long_messages_the_beginning_of_each_is_looked_at() -> None:
    decided = "I decided that we will meet at the office in the morning, and that there is tea for all of us."
    late = "I decided that the boat is to be sold in Bergen."
    quoted = "> Ada.\n" * 2500
    long = [message(f"{decided}\n{quoted}{late}", seq=seq) for seq in range(1, 81)]
    assert [note.line for note in notes_of(long)] == [decided]
    assert [note.line for note in notes_of(long[:3])] == [f"{decided} {late}"]
