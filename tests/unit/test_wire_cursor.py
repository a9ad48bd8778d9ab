"""Cursors: opaque, round-trip, and nothing that a client makes up gets further than a 422."""

from __future__ import annotations

import base64
import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_indexer.errors import ValidationFailed
from reverie_server.http.context import decode_cursor, encode_cursor

STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


def made_up(position: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


@given(st.integers(-(2**31), 2**31), STORABLE, st.integers(1, 2**62))
def test_a_cursor_comes_back_as_the_place_it_stands_for(sort_order: int, path: str, document_id: int) -> None:
    cursor = encode_cursor(sort_order, path, document_id)
    assert cursor.isascii()
    assert cursor.replace("-", "").replace("_", "").isalnum()
    assert decode_cursor(cursor, int, str, int) == (sort_order, path, document_id)


@pytest.mark.parametrize(
    "cursor",
    [
        "", "!", "a", "=", "é", "....", "bnVsbA", made_up(None), made_up({}), made_up([]), made_up([1]),
        made_up([1, "a"]), made_up([1, "a", 1, 1]), made_up(["1", "a", 1]), made_up([1, 2, 3]), made_up([1.0, "a", 1]),
        made_up([True, "a", 1]), made_up([1, "a", None]), made_up([1, "a", 2**63]), made_up([-(2**80), "a", 1]),
        made_up([1, "a\x00", 1]), made_up([1, "\ud800", 1]), made_up([float("nan"), "a", 1]),
        base64.urlsafe_b64encode(b"[" * 50_000).decode(), base64.urlsafe_b64encode(b"\xff\xfe\xfd").decode(),
        base64.urlsafe_b64encode(b"9" * 5_000).decode(),
    ],
)  # fmt: skip
def test_a_cursor_that_no_list_gave_is_refused(cursor: str) -> None:
    with pytest.raises(ValidationFailed, match="cursor"):
        decode_cursor(cursor, int, str, int)


@given(st.text())
def test_no_text_at_all_breaks_the_decoder(text: str) -> None:
    with contextlib.suppress(ValidationFailed):
        decode_cursor(text, int, str, int)


def test_no_cursor_is_the_start_of_the_list() -> None:
    assert decode_cursor(None, int, str, int) is None
