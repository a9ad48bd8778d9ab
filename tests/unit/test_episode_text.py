"""What an episode says without a model, in any script: the summary, the abstract, the key topics."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.index.episode_index import passages_of_episode
from reverie_indexer.text.passages import Rules
from reverie_server.episodes.make import is_grounded
from reverie_server.episodes.text import ABSTRACT_CHARS, abstract_of, cut, extractive_summary, says_something
from reverie_server.episodes.topics import MAX_TOPIC_CHARS, MAX_TOPICS, key_topics
from reverie_server.search.episode_passages import episode_text
from reverie_server.sessions.model import Message, Role
from reverie_server.text.fences import CLOSE_FENCE, HEADER, OPEN_FENCE
from reverie_server.text.tokens import estimate_tokens

AT = datetime(2026, 4, 3, 9, tzinfo=UTC)
LOG = "[09:30] User: Who inspects the gantry crane? | Assistant: Marguerite does, every second Wednesday."


def talk(*texts: str, roles: tuple[Role, ...] = ("user", "assistant")) -> list[Message]:
    return [
        Message(n, roles[(n - 1) % len(roles)], text, AT + timedelta(minutes=n), estimate_tokens(text) + 4)
        for n, text in enumerate(texts, 1)
    ]


def summary_of(messages: list[Message], previous: str = "", max_tokens: int = 1024) -> str:
    return extractive_summary(messages, previous, max_tokens=max_tokens, count=estimate_tokens)


@pytest.mark.parametrize(
    ("said", "kept", "left_out"),
    [
        (["Hello!", "We decided to move the review to Thursday."], "review to Thursday", "Hello"),
        (["Hallo!", "Wir haben beschlossen, die Abgabe auf Montag zu verschieben."], "Abgabe auf Montag", "Hallo"),
        (["Привет!", "Мы решили перенести встречу с Анной на четверг."], "перенести встречу", "Привет"),
        (["你好！", "我们决定把项目评审会议改到星期四。"], "改到星期四", "你好"),
        (["こんにちは。", "来週の会議は木曜日の15時に変更することに決めました。"], "木曜日", "こんにちは"),
        (["안녕하세요.", "회의를 목요일로 옮기기로 결정했습니다."], "목요일로", "안녕하세요"),
        (["สวัสดีครับ", "เราตัดสินใจเลื่อนการประชุมไปวันพฤหัสบดี"], "วันพฤหัสบดี", None),
        (["السلام عليكم.", "قررنا نقل الاجتماع إلى يوم الخميس القادم."], "الاجتماع", None),
    ],
)
def test_a_summary_and_its_abstract_hold_what_was_decided_in_any_script(
    said: list[str], kept: str, left_out: str | None
) -> None:
    summary = summary_of(talk(*said))
    assert kept in summary
    assert kept in abstract_of(summary)
    assert left_out is None or left_out not in abstract_of(summary)


def test_the_end_of_a_long_stretch_has_its_share() -> None:
    """Seen elsewhere: only the beginning of a long session ever was summarised."""
    texts = [f"I decided to buy lamp number {n} for the room {n} in the house of my aunt." for n in range(600)]
    summary = summary_of(talk(*texts, roles=("user",)))
    assert estimate_tokens(summary) <= 1024
    numbers = [int(line.split("number ")[1].split()[0]) for line in summary.splitlines()]
    assert numbers == sorted(numbers)
    # Some of each eighth of it.
    assert {n * 8 // 600 for n in numbers} == set(range(8))


def test_what_came_before_is_carried_on() -> None:
    summary = summary_of(talk("I prefer tea to coffee."), previous="- User: We decided to sell the boat in May.")
    assert "sell the boat" in summary
    assert "tea to coffee" in summary


def test_where_nothing_is_notable_what_was_said_stands_for_it() -> None:
    assert summary_of(talk("asking 1", "answering 1")) == "- User: asking 1\n- Assistant: answering 1"
    long = summary_of(talk(*(f"mm {chr(97 + n)}" for n in range(26))))
    assert [line[-1] for line in long.splitlines()] == list("abcxyz")


def test_tools_the_system_and_memory_given_back_say_nothing() -> None:
    echo = f"{OPEN_FENCE}\n{HEADER}\nRecalled data.\n- (2026-04-03, a.md) Ada likes tea.\n{CLOSE_FENCE}"
    assert not says_something(talk("result", "be kind", roles=("tool", "system")))
    assert not says_something(talk(echo, roles=("user",)))
    assert says_something(talk(f"{echo}\nThanks!", roles=("user",)))
    assert "Ada likes tea" not in summary_of(talk(f"{echo}\nI moved to Lisbon.", "Good luck in Lisbon!"))


@pytest.mark.parametrize(
    ("summary", "abstract"),
    [
        ("Hello! How are you?\n\nAda moved the review to Thursday. Bo agreed.", "Ada moved the review to Thursday."),
        ("## Summary\n\nHere is the summary:\n\n- **Ada** moved the *review*. Bo agreed.", "Ada moved the review."),
        ("- User: Hi there!\n- User: We sold the old boat. It was cheap.", "We sold the old boat."),
        ("1. Dr. Smith met Ada on 3. May. They agreed.", "Dr. Smith met Ada on 3. May."),
        ("你好！我们决定把会议改到星期四。王老师负责。", "我们决定把会议改到星期四。"),
        ("こんにちは。来週の会議は木曜日に変更しました。田中さんが担当します。", "来週の会議は木曜日に変更しました。"),
        ("สวัสดีครับ เราตัดสินใจเลื่อนการประชุมไปวันพฤหัสบดี", "เราตัดสินใจเลื่อนการประชุมไปวันพฤหัสบดี"),
        ("नमस्ते। हमने बैठक को गुरुवार तक स्थगित किया। राजेश आए।", "हमने बैठक को गुरुवार तक स्थगित किया।"),
        ("هل أنت بخير؟ قررنا نقل الاجتماع إلى يوم الخميس. شكرا.", "قررنا نقل الاجتماع إلى يوم الخميس."),
        ("Thanks!", "Thanks!"),
        ("---\n\n***", ""),
        ("", ""),
    ],
)
def test_the_abstract_is_the_first_meaningful_sentence(summary: str, abstract: str) -> None:
    assert abstract_of(summary) == abstract


@given(st.text(max_size=400))
def test_an_abstract_is_one_short_line_of_any_text(text: str) -> None:
    abstract = abstract_of(text)
    assert len(abstract) <= ABSTRACT_CHARS
    assert len(abstract.splitlines()) <= 1


def test_a_long_sentence_is_cut_at_a_gap() -> None:
    assert abstract_of("Ada said " + "and then she said " * 30) == abstract_of("Ada said " + "and then she said " * 30)
    long = abstract_of("Ada said " + "and then she spoke " * 30)
    assert len(long) <= ABSTRACT_CHARS
    assert long.endswith(("and…", "then…", "she…", "spoke…"))
    assert cut("a" * 300, 200) == "a" * 199 + "…"
    assert len(abstract_of("我们决定" * 100)) == ABSTRACT_CHARS


@pytest.mark.parametrize(
    ("text", "expected", "never"),
    [
        (
            "Yesterday Ada Lovelace visited Berlin. The Quayside project is late. Ada likes it.",
            {"Ada Lovelace", "Berlin", "Quayside"},
            {"Yesterday", "The", "The Quayside", "Yesterday Ada Lovelace"},
        ),
        ("We meet on Thursday in May at ACME Corp. I'm sure.", {"ACME Corp"}, {"Thursday", "May", "I'm", "We"}),
        ("Ich war gestern mit Frau Müller in Hamburg.", {"Frau Müller", "Hamburg"}, {"Ich"}),
        (
            "Ayer hablé con María de la Cruz en Sevilla. Ella vive allí.",
            {"María de la Cruz", "Sevilla"},
            {"Ayer", "Ella"},
        ),
        ("Вчера мы встретили Анну Петрову в Москве.", {"Анну Петрову", "Москве"}, {"Вчера"}),
        ("王老师负责项目评审。", set(), {"的", "是"}),
        ("田中さんがプロジェクトを担当します。", {"プロジェクト", "田中"}, {"が", "を"}),
        ("김민수가 프로젝트를 담당합니다.", {"김민수", "프로젝트"}, {"담당합니다", "김민수가"}),
        ("قابلنا أحمد في المشروع الجديد.", {"أحمد"}, {"في"}),
        ("We fixed PROJ-1234 in src/app/main.py.", {"PROJ-1234"}, {"We"}),
    ],
)
def test_key_topics_are_names_without_what_sentences_begin_with(text: str, expected: set[str], never: set[str]) -> None:
    topics = set(key_topics([text]))
    assert expected <= topics
    assert not never & topics


def test_key_topics_are_bounded_and_a_models_come_first() -> None:
    text = ". ".join(f"We met Person{n} Surname{n} in City{n}" for n in range(40))
    topics = key_topics([text], ["  - Moving house ", "moving HOUSE", "x" * 200, "…"])
    assert topics[0] == "Moving house"
    assert len(topics) == MAX_TOPICS
    assert all(len(topic) <= MAX_TOPIC_CHARS for topic in topics)
    assert len({topic.casefold() for topic in topics}) == len(topics)
    assert key_topics([]) == []


def test_key_topics_are_words_of_the_first_passage_and_are_not_shown() -> None:
    passages = passages_of_episode("Ada moved.\n\nBo stayed.", ["Quayside Project"], date(2026, 4, 3), Rules())
    assert [passage.chunk.text for passage in passages] == ["Ada moved.", "Bo stayed."]
    assert "quaysid" in passages[0].terms
    assert "quaysid" not in passages[1].terms
    assert "Quayside" not in passages[0].text
    assert all("2026-04-03" in passage.terms for passage in passages)
    assert passages[0].sha256 != passages_of_episode("Ada moved.", [], date(2026, 4, 3), Rules())[0].sha256


def test_a_prompt_gets_the_abstract_or_the_passage_that_was_found() -> None:
    abstract = "Ada moved the review to Thursday."
    assert episode_text("- User: Ada moved the review to  Thursday.", abstract) == abstract
    assert episode_text("Ada moved the review to Thursday. Bo agreed.", abstract) == abstract
    assert episode_text("- User: I prefer tea.", abstract) == "I prefer tea."


def test_a_summary_has_something_in_common_with_what_it_was_made_of() -> None:
    given_text = "User: We moved the review with Ada to Thursday."
    assert is_grounded("Ada's review is on Thursday now.", given_text)
    assert is_grounded("La revisión con Ada es el jueves.", given_text)
    assert not is_grounded("Lorem ipsum dolor sit amet.", given_text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "我昨天去北京出差，见了猎户座项目的客户，他们希望下个月上线。我们决定使用PostgreSQL作为数据库。",
            ["北京", "猎户座", "项目", "客户", "PostgreSQL", "数据库"],
        ),
        ("市场部的王经理觉得预算太高了。我想把会议改到星期五下午。", ["市场部", "经理", "预算", "会议"]),
        (
            "昨日、東京で田中さんと予算について話しました。来月から大阪支社に転勤します。",
            ["東京", "田中", "予算", "大阪支社", "転勤"],
        ),
        (
            "เมื่อวานฉันไปประชุมที่กรุงเทพเรื่องงบประมาณโครงการใหม่ ลูกค้าอยากให้เสร็จภายในเดือนหน้า",
            ["ประชุม", "กรุงเทพ", "งบประมาณ", "โครงการ", "ลูกค้า"],
        ),
        ("我对花生过敏，请记住。我在学西班牙语，打算明年去马德里旅行。", ["花生", "过敏", "西班牙语", "马德里"]),
    ],
)
def test_topics_of_scripts_without_spaces_are_words(text: str, expected: list[str]) -> None:
    assert set(key_topics([text])) == set(expected)
