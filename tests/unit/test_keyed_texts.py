"""A text that only its hashes are known of is found wherever forgetting finds it, as it stands there."""

from __future__ import annotations

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.text.keyed_texts import KeyedTexts, keyed_text
from reverie_server.text.redact import Folded, Targets


def keyed(text: str) -> bytes:
    return hmac.digest(b"a key", text.encode("utf-8", "surrogatepass"), "sha256")


def found(content: str, *texts: str) -> list[str]:
    known = [each for text in texts if (each := keyed_text(text, keyed)) is not None]
    return KeyedTexts(known, keyed).found_in(content)


@pytest.mark.parametrize(
    ("text", "content", "expected"),
    [
        ("The vault opens with 4711.", "- the  VAULT opens\nwith 4711!", ["the  VAULT opens\nwith 4711."]),
        ("Straße", "in der STRASSE", ["STRASSE"]),
        ("你好世界", "123你好世界x", ["你好世界"]),
        ("Bo", "Bo, bob and Jumbo", ["Bo"]),
        ("_Ada_", "x_Ada_", ["_Ada_"]),
        ("Ada likes tea", "Ada likes coffee", []),
        ("…", "", []),
        ("café", "cafe\u0301", ["cafe\u0301"]),
    ],
)
def test_it_is_found_as_it_stands(text: str, content: str, expected: list[str]) -> None:
    assert found(content, text) == expected


def test_many_are_found_at_once_and_each_once() -> None:
    texts = [f"The {name} is in the harbour of Oslo" for name in ("crane", "boat", "anchor")]
    content = "\n".join([*texts[:2], "Nothing else.", texts[0]])
    assert found(content, *texts) == texts[:2]


def test_nothing_of_the_text_is_in_what_it_is_known_by() -> None:
    known = keyed_text("The vault opens with 4711-quince.", keyed)
    assert known is not None
    assert (known.length, len(known.anchor), len(known.digest), known.is_sentence) == (32, 2, 16, True)


WORDS = st.lists(
    st.sampled_from(["Ada", "ada", "a", "漢", "ß", "SS", "-", ".", "\u0301", "_", "b1", "!", "\u200b"]), max_size=8
)


@given(WORDS, WORDS, st.sampled_from(["", " ", "\n"]))
def test_what_forgetting_finds_is_found(inside: list[str], around: list[str], space: str) -> None:
    text = space.join(inside).strip()
    content = space.join([*around, *inside, *around])
    if Folded.of(text).text and Targets([text]).found_in(content):
        said = {Folded.of(each).text.rstrip(" .!") for each in found(content, text)}
        assert Folded.of(text).text.rstrip(" .!") in said
