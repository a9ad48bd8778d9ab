"""What a receipt of forgetting lists: each place once, by the longest text that goes there. No database."""

from __future__ import annotations

from reverie_server.forgettable import Item
from reverie_server.forgetting.forget import _listed
from reverie_server.forgetting.selection import Statements


def listed(*items: Item, stretches: tuple[str, ...]) -> list[tuple[str, int]]:
    selected = Statements()
    selected.add(items[0].text, "0", as_sentence=True)
    return [(item.text, item.versions) for item in _listed(items, selected, stretches)]


def item(text: str, versions: int = 2) -> Item:
    return Item("document", "a.md", text, True, versions)


def test_a_text_within_a_longer_one_of_the_same_place_is_not_listed_again() -> None:
    long = "The code of the door is 4711."
    assert listed(item("4711"), item(long), stretches=(long,)) == [(long, 2)]
    assert listed(item("4711", 3), item(long), stretches=(long,)) == [("4711", 1), (long, 2)]


def test_two_spellings_of_one_text_do_not_hide_each_other() -> None:
    spellings = ("The code is 4711.", "the code is 4711")
    shown = listed(*map(item, spellings), stretches=spellings)
    assert [text for text, _ in shown] in ([spellings[0]], [spellings[1]])
