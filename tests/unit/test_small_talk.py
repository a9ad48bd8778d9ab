"""What asks nothing of a memory, in many scripts; and what looks like it and does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.errors import ValidationFailed
from reverie_server.heuristics.small_talk import MIN_WORDS, is_small_talk, outside_code, read, says_nothing


@pytest.mark.parametrize(
    "message",
    [
        "ok thanks, sounds great!!", "yes please do it", "hi", "Hello there!", "👍🎉", "...", "thx", "go on",
        "haha", "hahahah lol", "OK...thanks", "danke, passt!", "mach weiter bitte", "ja genau, das klingt gut",
        "Vielen Dank für die Hilfe!", "gracias", "¡Muchas gracias, perfecto!", "¿Qué tal?", "Hola, buenos días",
        "merci beaucoup", "d'accord, continue", "Salut, ça va?", "grazie mille!", "va bene, procedi", "obrigado",
        "tudo bem?", "dank je wel", "goedemorgen, hoe gaat het?", "спасибо большое", "привет, как дела?",
        "да, давай дальше", "dzięki", "jak się masz?", "tak, proszę, kontynuuj", "teşekkürler", "nasılsın?",
        "tamam devam et", "شكرا جزيلا", "السلام عليكم", "كيف حالك؟", "धन्यवाद", "कैसे हो?", "ठीक है, आगे बढ़ो",
        "谢谢", "好的，谢谢", "你好吗？", "继续", "明白了，请继续", "好的好的", "哈哈哈哈", "ありがとうございます",
        "了解です、続けてください", "お元気ですか？", "おはようございます", "はい、お願いします", "감사합니다",
        "네, 계속해 주세요", "안녕하세요", "잘 지내요?", "ㅋㅋㅋㅋ", "ขอบคุณครับ", "สวัสดีค่ะ สบายดีไหม",
        "โอเคครับ ต่อเลย", "555", "```python\nprint(1)\n```",
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    foo()\nValueError: a bad thing",
        "okkkk", "thaaanks", "yesss please!!", "xD", "no", "what?", "really?", "Good morning! How are you today?",
        "that makes sense, thank you so much for your help", "I see, good point", "👍 sounds good", "kthxbye ok",
        "Perfecto, sigamos", "nein danke, das war's", "", "   ",
    ],
)  # fmt: skip
def test_chatter_asks_nothing_of_a_memory(message: str) -> None:
    assert is_small_talk(message)


@pytest.mark.parametrize(
    "message",
    [
        "my deadline?", "截止日期？", "截止日期是什么时候", "项目的截止日期是哪天", "締め切りはいつですか",
        "締め切りはいつ", "PROJ-1234", "`rotateKeys`", "src/app/main.py", "\"blue folder\"", "when is the review",
        "When do we meet Ada?", "what is my deadline", "Wann ist die Abgabe?", "wann ist die Abgabe",
        "wie heißt mein Hund?", "¿Cuándo es la reunión?", "cuando es la reunion", "quand est la réunion?",
        "quando è la riunione?", "quando é a reunião", "wanneer is de vergadering", "когда встреча?",
        "kiedy jest spotkanie?", "toplantı ne zaman", "متى الاجتماع؟", "बैठक कब है", "회의 언제야", "제 마감일은?",
        "ประชุมเมื่อไหร่", "วันเกิดของแม่คือวันไหน", "ok, when is the review", "hey what's the wifi password",
        "remind me about Paris", "```py\nx\n```\nwhy does the import fail?",
        "I moved to Berlin and started a new job", "谁负责成绩录入", "我的电话号码是多少", "会議はどこで",
        "did the test pass?", "is the test ready?", "when does it start", "测试什么时候开始？", "2026-04-03",
        "我喜欢喝铁观音不喝咖啡",
        "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: x\nhow did we fix this last time?",
    ],
)  # fmt: skip
def test_a_question_a_name_or_news_does(message: str) -> None:
    assert not is_small_talk(message)


def test_an_unspaced_question_is_not_trivial() -> None:
    """Seen elsewhere: counted by its spaces, a Chinese or Japanese question is one word, and nothing was ever found."""
    assert not is_small_talk("项目截止日期是什么时候")
    assert not is_small_talk("项目截止日期是什么时候", "chinese")
    assert not is_small_talk("来週の会議は何時からですか", "ja")


def test_a_greeting_with_the_name_of_something_is_a_question() -> None:
    for message in ("How is it going with the Quayside project", "¿Qué tal la reunión?", "王老师最近好吗"):
        assert not is_small_talk(message)
    for message in ("How is it going?", "¿Qué tal?", "最近好吗"):
        assert is_small_talk(message)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("the dog sleeps", 2),
        ("the dog sleeps, the dog eats", 3),
        ("Der Hund schläft", 2),  # by the list of the language that knows its words
        ("会议改到星期四", 3),
        ("thanks", 0),
    ],
)
def test_words_with_a_meaning_are_counted_once(message: str, words: int) -> None:
    reading = read(message)
    assert (reading.words, reading.asks, reading.names) == (words, False, False)
    assert is_small_talk(message) == (words < MIN_WORDS)


def test_the_agents_own_language_counts_beside_the_one_of_the_message() -> None:
    assert read("hund katze", "german").words == 2
    assert read("mit hund", "german").words == 1
    assert read("und with the", "german").words == 0


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("look:\n```py\nx = 1\n```\nwhy?", "look:\n\n\nwhy?"),
        ("~~~\nnever closed\nwhy?", ""),
        ("it says\n  at foo (a.js:1:2)\n  at b.js:3:4\nTypeError: x\nwhy?", "it says\nwhy?"),
        # Without a frame nothing says that it is a trace.
        ("Error: the build fails\n    indented", "Error: the build fails\n    indented"),
    ],
)
def test_code_is_left_out_of_account(message: str, left: str) -> None:
    assert outside_code(message).strip() == left


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValidationFailed):
        is_small_talk("hello", "klingon")


@given(st.text(max_size=200))
def test_no_text_is_too_odd(message: str) -> None:
    reading = read(message)
    assert is_small_talk(message) or reading.words > 0 or reading.asks or reading.names


@pytest.mark.parametrize("piece", ["ha", "ok ", "什么", "```\n", "a. ", "(", "    at x (\n", "ㅋ", "😀", "nnn"])
def test_a_long_text_of_anything_is_read(piece: str) -> None:
    """Square time would take minutes here."""
    read(outside_code(piece * (100_000 // len(piece))))


_WORDS = (
    "ok thanks what is the a when does how it going my ja danke wie geht's was ist der gracias qué tal cómo está haha "
    "lolol okkkk x 5 fiddle Ada Geige violín budget PROJ-12 ? . , ! 谢谢 预算 네 어디 спасибо скрипка"
)
_SAID = st.lists(st.sampled_from(_WORDS.split()) | st.text(max_size=8), max_size=10).map(" ".join)


@given(_SAID, st.sampled_from(["english", "german", "spanish", "chinese", "korean", "hungarian"]))
def test_words_that_no_language_knows_spare_the_reading(text: str, language: str) -> None:
    """The answers are those of the whole reading, which a text with such words is spared."""
    reading = read(outside_code(text), language)
    is_about_nothing = not reading.asks and not reading.names
    assert is_small_talk(text, language) == (is_about_nothing and reading.words < MIN_WORDS)
    assert says_nothing(text, language) == (reading.words == 0 and not reading.names)
