"""The messages that the adapters for questions and messages are learnt from."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from reverie_bench import answers
from reverie_bench.answers import KINDS, messages


def test_the_messages_name_lines_that_there_are_and_some_need_nothing() -> None:
    some = messages()
    counts = Counter(each.kind for each in some)
    assert set(counts) == set(KINDS)
    assert counts["indirect"] > 6_000
    assert counts["near"] > 2_000
    assert {"english", "german", "spanish", "chinese", "japanese", "arabic"} < {each.life.language for each in some}
    assert all(bool(each.relevant) == (each.kind in ("direct", "indirect")) for each in some)
    # What has ended was said before what holds now.
    assert all(max(each.ended) < max(each.needed) for each in some if each.ended and each.life.is_own)


def test_of_lives_and_of_talks_some_are_held_back() -> None:
    lives = {each.life.name: each.life for each in messages()}
    for is_own in (True, False):
        held = [life.is_held for life in lives.values() if life.is_own == is_own]
        assert len(held) / 12 < sum(held) < len(held) / 4


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("D 3 | of no line", "no lines"),
        ("D 1 < 1 | ended by itself", "no lines"),
        ("N 1 | near, and needs it", "no near message"),
        ("D - | direct, and needs nothing", "no direct message"),
        ("X 1 | of no kind", "no message"),
        ("D one | in words", "no message"),
    ],
)
def test_a_row_that_is_no_message_is_refused(
    row: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "_TALKS", tmp_path)
    (tmp_path / "english_x.txt").write_text("== x-1\nL | One line.\nL | Another.\nD 1 | which one?\n")
    assert messages()[-1].text == "which one?"
    with (tmp_path / "english_x.txt").open("a") as file:
        file.write(f"{row}\n")
    with pytest.raises(ValueError, match=why):
        messages()
