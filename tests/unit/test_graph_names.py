"""Names: when two are the same, how alike they are, which a text holds; and entities as their mentions make them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reverie_server.graph.derive import MAX_DESCRIPTION_CHARS, Mention, derive
from reverie_server.graph.names import (
    differ_in_number,
    external_id_of,
    holds_name,
    name_key,
    name_similarity,
    windows,
)
from reverie_server.llm.generation import EXTRACTIVE

AT = datetime(2026, 4, 3, tzinfo=UTC)


def test_names_are_compared_folded_and_without_marks() -> None:
    assert name_key("  “Ada   LOVELACE”, ") == name_key("ada lovelace") == "ada lovelace"
    assert name_key("Ada's") == "ada"
    assert name_key("...") == ""
    assert external_id_of(" Ada Lovelace! ") == "ada-lovelace"
    assert external_id_of("src/app/main.py") == "src/app/main.py"


def test_likeness_is_jaro_winkler() -> None:
    # Winkler's own pairs (1990), to three places.
    assert name_similarity("MARTHA", "MARHTA") == pytest.approx(0.961, abs=5e-4)
    assert name_similarity("DIXON", "DICKSONX") == pytest.approx(0.813, abs=5e-4)
    assert name_similarity("Ada", "ada ") == 1.0
    assert name_similarity("Ada", "") == 0.0
    assert differ_in_number("Sprint 12", "Sprint 13")
    assert not differ_in_number("Sprint 12", "sprint  12.")


def test_a_text_holds_names_as_whole_words_and_in_scripts_without_them() -> None:
    held = windows("Yesterday Ada Lovelace's plan for Node.js was approved; 田中さんは東京に住んでいます。")
    assert holds_name(held, "ada lovelace")
    assert holds_name(held, "Node.js")
    assert holds_name(held, "東京")
    assert not holds_name(held, "Love")
    assert not holds_name(held, "...")
    assert windows("") == set()


def mention(number: int, entity_id: int = 1, **more: Any) -> Mention:
    values = {"name": "Ada", "description": "", "aliases": (), "properties": {}, "confidence": 0.8, **more}
    return Mention(number, entity_id, said_at=AT + timedelta(days=number), generation=EXTRACTIVE, **values)


def test_what_is_less_certain_never_overwrites_what_is_more_so() -> None:
    sure = mention(1, name="Ada Lovelace", description="mathematician", confidence=0.95, properties={"born": 1815})
    unsure = mention(2, name="Ada L.", description="singer", properties={"born": 1900, "city": "London"})
    same = mention(3, name="A. Lovelace", description="wrote the first program", confidence=0.95)
    for order in ([sure, unsure, same], [same, unsure, sure]):
        derived = derive([1], order)
        assert (derived.name, derived.description) == ("Ada Lovelace", "wrote the first program\nmathematician")
        assert set(derived.aliases) == {"Ada L.", "A. Lovelace"}
        assert derived.properties == {"born": 1815, "city": "London"}
        assert (derived.confidence, derived.since) == (0.95, AT + timedelta(days=1))


def test_what_was_merged_adds_what_it_says_and_takes_nothing_over() -> None:
    own = mention(1, description="engineer", properties={"team": "platform"})
    other = mention(2, 7, name="Ada Lovelace", description="likes tea", confidence=1.0, aliases=("Countess",))
    derived = derive([1, 7], [own, other])
    assert (derived.name, derived.description) == ("Ada", "engineer\nlikes tea")
    assert derived.aliases == ("Ada Lovelace", "Countess")
    long = [mention(n, n, description=f"{n}" * 900) for n in (1, 2, 3)]
    assert len(derive([1, 2, 3], long).description) <= MAX_DESCRIPTION_CHARS
    with pytest.raises(ValueError, match="at least one mention"):
        derive([1], [])
