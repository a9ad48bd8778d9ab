"""Where sentences end in what people type in lower case."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.text.statement_spans import statements


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "da schwillt mir das gesicht zu. das nich vergessen",
            ["da schwillt mir das gesicht zu.", "das nich vergessen"],
        ),
        ("the gate is 4471. keep that. i'll need it", ["the gate is 4471.", "keep that.", "i'll need it"]),
        ("moin. wir haben zb. einen hund, evtl. auch zwei", ["moin.", "wir haben zb. einen hund, evtl. auch zwei"]),
        ("we meet at 9 a.m. every day, e.g. today", ["we meet at 9 a.m. every day, e.g. today"]),
        ("am 12. mai ist es. gut so", ["am 12. mai ist es.", "gut so"]),
        ("der 200. geburtstag von oma", ["der 200. geburtstag von oma"]),
        ("I changed my mind. My ex lives in Leeds.", ["I changed my mind.", "My ex lives in Leeds."]),
        ("My son is called Max. My daughter sings.", ["My son is called Max.", "My daughter sings."]),
        ("Le dije que no. Mi clave es 4471.", ["Le dije que no.", "Mi clave es 4471."]),
        ("I like tea, cake etc. My sister hates it.", ["I like tea, cake etc.", "My sister hates it."]),
        ("Das sind mind. 30 Leute in der Hauptstr. 5", ["Das sind mind. 30 Leute in der Hauptstr. 5"]),
        ("Hello my dear friend 😄 I'm Ada, 40", ["Hello my dear friend 😄", "I'm Ada, 40"]),
        ("So müde 😴😴 Morgen schlaf ich aus", ["So müde 😴😴", "Morgen schlaf ich aus"]),
        ("Qué risa 🤣 ¿Vienes?", ["Qué risa 🤣", "¿Vienes?"]),
        ("太累了😭明天再说", ["太累了😭", "明天再说"]),
        ("haha 😂 ich komm gleich", ["haha 😂 ich komm gleich"]),
        ("I ❤️ New York", ["I ❤️ New York"]),
        ("😄 Hello there", ["😄 Hello there"]),
        ("我😂笑死", ["我😂笑死"]),
        ('"stop!" she said and left', ['"stop!" she said and left']),
        ("vivo con ella, con su perro, etc. y ya", ["vivo con ella, con su perro, etc. y ya"]),
    ],
)
def test_a_point_ends_a_sentence_before_a_small_letter_behind_a_whole_word(text: str, parts: list[str]) -> None:
    assert statements(text) == parts
    assert [text[each.start : each.end] for each in spoken_sentences(text)] == parts
