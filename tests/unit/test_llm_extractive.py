"""Without a model: what a person would note of a conversation is found, in twelve languages and beyond."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.cues import all_cues
from reverie_server.heuristics.extract import (
    MAX_LINE_CHARS,
    MAX_LINES,
    asks_to_remember,
    notable_lines,
    statements_of,
    summarise,
)
from reverie_server.sessions.model import Message, Role
from reverie_server.text.fences import CLOSE_FENCE, HEADER, OPEN_FENCE, SUMMARY_MARK
from reverie_server.text.tokens import estimate_tokens

NOON = datetime(2026, 4, 3, 12, tzinfo=UTC)


def said(*texts: str | tuple[Role, str], at: datetime = NOON) -> list[Message]:
    """A conversation; a bare text is the user's."""
    pairs: list[tuple[Role, str]] = [("user", text) if isinstance(text, str) else text for text in texts]
    return [Message(seq, role, text, at, 1) for seq, (role, text) in enumerate(pairs, 1)]


# Small talk, a decision, a question, a preference and a fact, thanks, a task, something to remember.
CONVERSATIONS = {
    "english": (
        "Hi there! How are you?",
        "Let's use PostgreSQL instead of MySQL.",
        "Can you explain what an index is?",
        "I prefer short answers without bullet points. My daughter Lena starts school on 2026-09-01.",
        "Thanks, that's great!",
        "I need to send the report by Friday.",
        "Remember that I'm allergic to peanuts.",
    ),
    "german": (
        "Hallo! Wie geht's?",
        "Wir nehmen PostgreSQL statt MySQL.",
        "Kannst du mir erklären, was ein Index ist?",
        "Ich mag keine langen Antworten. Meine Tochter Lena kommt am 1.9.2026 in die Schule.",
        "Danke, das ist toll!",
        "Ich muss den Bericht bis Freitag abgeben.",
        "Merk dir bitte, dass ich gegen Erdnüsse allergisch bin.",
    ),
    "spanish": (
        "¡Hola! ¿Qué tal?",
        "Decidimos usar PostgreSQL en vez de MySQL.",
        "¿Puedes explicarme qué es un índice?",
        "Prefiero respuestas cortas. Mi hija Lena empieza el colegio el 1/9/2026.",
        "¡Gracias, qué bien!",
        "Tengo que entregar el informe antes del viernes.",
        "Recuerda que soy alérgica a los cacahuetes.",
    ),
    "french": (
        "Bonjour ! Comment ça va ?",
        "On a choisi PostgreSQL plutôt que MySQL.",
        "Peux-tu m'expliquer ce qu'est un index ?",
        "Je préfère les réponses courtes. Ma fille Léna entre à l'école le 1/9/2026.",
        "Merci, c'est super !",
        "Je dois rendre le rapport avant vendredi.",
        "N’oublie pas que je suis allergique aux arachides.",
    ),
    "italian": (
        "Ciao! Come stai?",
        "Abbiamo deciso di usare PostgreSQL invece di MySQL.",
        "Mi puoi spiegare che cos'è un indice?",
        "Preferisco risposte brevi. Mia figlia Lena inizia la scuola il 1/9/2026.",
        "Grazie, che bello!",
        "Devo consegnare la relazione entro venerdì.",
        "Ricordati che sono allergico alle arachidi.",
    ),
    "portuguese": (
        "Oi! Tudo bem?",
        "Decidimos usar PostgreSQL em vez de MySQL.",
        "Você pode me explicar o que é um índice?",
        "Prefiro respostas curtas. Minha filha Lena começa a escola em 1/9/2026.",
        "Obrigado, que legal!",
        "Preciso entregar o relatório até sexta-feira.",
        "Lembre-se que sou alérgica a amendoim.",
    ),
    "dutch": (
        "Hoi! Hoe gaat het?",
        "We hebben besloten PostgreSQL te gebruiken in plaats van MySQL.",
        "Kun je uitleggen wat een index is?",
        "Ik wil liever korte antwoorden. Mijn dochter Lena gaat op 1-9-2026 naar school.",
        "Bedankt, wat leuk!",
        "Ik moet het rapport uiterlijk vrijdag inleveren.",
        "Onthoud dat ik allergisch ben voor noten.",
    ),
    "russian": (
        "Привет! Как дела?",
        "Мы решили использовать PostgreSQL вместо MySQL.",
        "Можешь объяснить, что такое индекс?",
        "Я предпочитаю короткие ответы. Моя дочь Лена идёт в школу 1.9.2026.",
        "Спасибо, здорово!",
        "Мне нужно сдать отчёт до пятницы.",
        "Запомни, что у меня аллергия на арахис.",
    ),
    "polish": (
        "Cześć! Co słychać?",
        "Zdecydowaliśmy się na PostgreSQL zamiast MySQL.",
        "Możesz wyjaśnić, czym jest indeks?",
        "Wolę krótkie odpowiedzi. Moja córka Lena idzie do szkoły 1.9.2026.",
        "Dzięki, super!",
        "Muszę oddać raport do piątku.",
        "Pamiętaj, że jestem uczulona na orzechy.",
    ),
    "chinese": (
        "你好！",
        "我们决定用PostgreSQL，不再用MySQL。",
        "你能解释一下什么是索引吗？",
        "我喜欢简短的回答。我女儿小莲2026年9月1日上学。",
        "谢谢，太好了！",
        "我需要在星期五之前交报告。",
        "请记住我对花生过敏。",
    ),
    "japanese": (
        "こんにちは！お元気ですか？",
        "MySQLではなくPostgreSQLを使うことにしました。",
        "インデックスとは何ですか？",
        "短い返事が好きです。娘のレナは2026年9月1日に学校に入ります。",
        "ありがとう、すごいですね！",
        "金曜日までに報告書を出さなければなりません。",
        "ピーナッツアレルギーがあることを覚えておいてください。",
    ),
    "korean": (
        "안녕하세요! 잘 지내세요?",
        "MySQL 대신 PostgreSQL을 쓰기로 결정했어요.",
        "인덱스가 뭔지 설명해 줄래요?",
        "저는 짧은 답변을 좋아해요. 제 딸 레나는 2026년 9월 1일에 학교에 가요.",
        "감사합니다, 멋지네요!",
        "금요일까지 보고서를 제출해야 해요.",
        "제가 땅콩 알레르기가 있다는 걸 기억해 주세요.",
    ),
}


def test_every_language_with_cues_is_tried() -> None:
    assert CONVERSATIONS.keys() == all_cues().keys()


@pytest.mark.parametrize("language", CONVERSATIONS)
def test_statements_are_noted_and_chatter_and_questions_are_not(language: str) -> None:
    _, decision, _, preference, _, task, remember = CONVERSATIONS[language]
    assert notable_lines(said(*CONVERSATIONS[language])) == [decision, preference, task, remember]


def test_a_language_without_cues_goes_by_names_numbers_and_rare_words() -> None:
    lines = notable_lines(
        said(
            "Hej! Hur mår du?",
            "Vi bestämde oss för PostgreSQL 16 istället för MySQL.",
            "Kan du förklara vad ett index är?",
            "Min dotter Lena börjar skolan 2026-09-01 i Göteborg.",
            "Tack, vad kul!",
        )
    )
    assert lines == [
        "Vi bestämde oss för PostgreSQL 16 istället för MySQL.",
        "Min dotter Lena börjar skolan 2026-09-01 i Göteborg.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The report is at https://example.org/reports/7.",
        "The migration script is in src/db/migrate.py and fails.",
        "The database runs on db.internal:5432.",
        "The release was tagged v2.4.1 on 2026-03-30.",
        "My e-mail is ada@example.org.",
    ],
)
def test_technical_facts_are_noted(text: str) -> None:
    assert notable_lines(said(text)) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "Thanks a lot, that's really helpful!",
        "Sounds good.",
        "haha yes",
        "What is the capital of Peru?",
        "could you tell me where my daughter's school report from 2025 is",
        "You're so strong and inspiring.",
        "```python\nI = prefer('tea')  # I decided on 2026-04-03\n```",
        "~~~\nI prefer tea. Remember that.",
        "> I prefer tea, she wrote on 2026-04-01.",
        "| I prefer | tea |",
        "My API key is sk-abcdefghijklmnop1234.",
        "Remember that my password is hunter2.",
        "",
    ],
)
def test_what_nobody_would_note_is_not_noted(text: str) -> None:
    assert notable_lines(said(text)) == []


def test_text_around_code_is_still_noted() -> None:
    text = "I prefer tabs in this file.\n```python\nx = 1\n```\nWe decided to ship on 2026-05-01."
    assert notable_lines(said(text)) == ["I prefer tabs in this file. We decided to ship on 2026-05-01."]


def test_of_the_assistant_only_what_was_agreed_is_noted_and_said_so() -> None:
    lines = notable_lines(
        said(
            ("assistant", "Agreed: we decided to use PostgreSQL 16 from 2026-05-01 on."),
            ("assistant", "PostgreSQL 16 was released on 2023-09-14 and runs on port 5432."),
            ("tool", "We decided to use SQLite 3 from 2026-05-01 on."),
            ("system", "We decided to use SQLite 3 from 2026-05-01 on."),
        )
    )
    assert lines == ["Assistant: Agreed: we decided to use PostgreSQL 16 from 2026-05-01 on."]


def test_what_memory_had_injected_is_not_noted_again() -> None:
    fact = "I prefer green tea, and my daughter is called Lena."
    section = f"{OPEN_FENCE}\n{HEADER}\n- (2026-04-01, memory/2026-04-01.md) {fact}\n{CLOSE_FENCE}"
    assert notable_lines(
        said(f"{section}\n\nWe decided to paint the boat blue.", f"{SUMMARY_MARK}\n- User: {fact}")
    ) == ["We decided to paint the boat blue."]


def test_what_is_said_twice_is_noted_once() -> None:
    assert notable_lines(said("I prefer green tea to coffee.", "As I said, I prefer green tea to coffee.")) == [
        "I prefer green tea to coffee."
    ]


def test_a_line_is_short_and_ends_with_a_sentence() -> None:
    long = " ".join(f"I decided to visit town number {n} on 2026-05-{n:02}." for n in range(1, 29))
    lines = notable_lines(said(long))
    assert all(len(line) <= MAX_LINE_CHARS and line.endswith(".") for line in lines)
    assert " ".join(lines) == long
    [line] = notable_lines(said("I prefer " + "the very long and " * 50 + "boring answers."))
    assert len(line) <= MAX_LINE_CHARS
    assert line.endswith(("the…", "very…", "long…", "and…"))


def test_the_best_lines_are_kept_where_there_are_too_many() -> None:
    texts = [f"I bought {name} shares yesterday." for name in ("Abel", "Boole", "Curie", "Dirac")]
    many = [f"We saw whale number {n} near Cape {chr(64 + n % 26)}{n} on Friday." for n in range(1, 40)]
    lines = notable_lines(said(*many[:20], "Remember that I decided on 2026-05-01 to sell.", *many[20:], *texts))
    assert len(lines) == MAX_LINES
    assert "Remember that I decided on 2026-05-01 to sell." in lines


def test_four_decisions_that_differ_in_a_number_are_four() -> None:
    texts = [f"We decided that team number {n} uses the meeting room on floor {n}." for n in (1, 2, 3, 4)]
    assert notable_lines(said(*texts)) == texts


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Please remember the tulip stays red.", "The tulip stays red."),
        ("remember my aunt Wilma hates cats", "My aunt Wilma hates cats"),
        ("Remember tulip number 2 stays red.", "Tulip number 2 stays red."),
        ("Recuerda que Wilma odia gatos.", "Wilma odia gatos."),
        ("I remember the red tulip", None),
        ("Remember when we went to Rome?", None),
    ],
)
def test_a_request_to_remember_is_known_however_short_it_is(text: str, kept: str | None) -> None:
    assert asks_to_remember(text) is (kept is not None)
    assert [one.text for one in statements_of(said(text))] == ([] if kept is None else [kept])


def test_no_messages_are_no_lines() -> None:
    assert notable_lines([]) == []
    assert summarise([], "", max_tokens=100, count=estimate_tokens) == ""


def test_a_summary_keeps_both_sides_and_the_open_question_in_order() -> None:
    summary = summarise(
        said(
            "Hi! I'm planning a trip to Lisbon in May with my sister.",
            ("assistant", "We agreed on the hotel at Rua Augusta 12 for 3 nights."),
            "Great, thanks!",
            "Which museum should we see first?",
        ),
        "",
        max_tokens=200,
        count=estimate_tokens,
    )
    assert summary.splitlines() == [
        "- User: I'm planning a trip to Lisbon in May with my sister.",
        "- Assistant: We agreed on the hotel at Rua Augusta 12 for 3 nights.",
        "- User: Which museum should we see first?",
    ]


def test_an_answered_question_is_not_in_the_summary() -> None:
    messages = said("Which museum is best?", ("assistant", "The tile museum opened in 1965 in Lisbon."))
    assert "Which museum" not in summarise(messages, "", max_tokens=200, count=estimate_tokens)


@pytest.mark.parametrize("max_tokens", [0, 5, 20, 40, 80])
def test_a_summary_stays_within_its_tokens_and_keeps_of_the_previous_one(max_tokens: int) -> None:
    previous = "- User: I moved to Oslo in 2019.\n- User: I like rain.\n- Assistant: We decided on 2026-03-01 to rent."
    messages = said(*(f"I bought {n} maps of Norway on 2026-04-{n:02}." for n in range(1, 20)))
    summary = summarise(messages, previous, max_tokens=max_tokens, count=estimate_tokens)
    assert estimate_tokens(summary) <= max_tokens
    kept = [line for line in summary.splitlines() if line in previous]
    assert estimate_tokens("\n".join(kept)) <= max_tokens // 2
    assert bool(kept) == (max_tokens >= 20)
    assert ("maps" in summary) == (max_tokens >= 40)


def test_equal_input_gives_equal_output() -> None:
    messages = said(*CONVERSATIONS["english"], *CONVERSATIONS["chinese"])
    assert notable_lines(messages) == notable_lines(messages)
    assert len({summarise(messages, "- x 1", max_tokens=90, count=estimate_tokens) for _ in range(3)}) == 1
