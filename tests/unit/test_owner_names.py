"""A query that names its owner is asked as the owner would ask."""

from __future__ import annotations

import pytest

from reverie_server.search.owner_names import given_names, named_in, of_owner, without_names
from reverie_server.search.request import SearchRequest

NAMES = given_names(["Volker Hentschel", "何雯琪"])


def test_people_are_called_by_their_given_names_too() -> None:
    assert NAMES == ["volker hentschel", "volker", "何雯琪", "雯琪"]
    assert given_names(["X", " ", "林艾"]) == ["林艾"]


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("Where does Volker Hentschel live?", "Where does I live?"),
        ("Volkers Haustier", "my Haustier"),
        ("Volker’s boss", "my boss"),
        ("¿Dónde trabaja volker?", "¿Dónde trabaja yo ?"),
        ("雯琪现在住在哪里？", "我现在住在哪里？"),
        ("何雯琪的生日", "我的生日"),
        ("Welches Haustier hat Volker?", "Welches Haustier hat ich ?"),
        ("Wo wohnt Herr Hentschel?", "Wo wohnt ich ?"),
        ("Mr. Hentschel's dog", "my dog"),
        # Nothing else is asked for, or to the letter.
        ("Volker", "Volker"),
        ("Who is Volker?", "Who is Volker?"),
        ('letters with "Volker Hentschel" below', 'letters with "Volker Hentschel" below'),
        # Others.
        ("Volkerson's boat", "Volkerson's boat"),
        ("Hentschel & Sons invoice", "Hentschel & Sons invoice"),
    ],
)
def test_the_name_of_the_owner_is_not_looked_for(query: str, asked: str) -> None:
    assert without_names(query, NAMES, "english") == asked


def test_without_a_name_a_query_is_as_it_is() -> None:
    assert without_names("Where does Volker live?", [], "english") == "Where does Volker live?"
    assert named_in("Where does Volker live?", []) == []
    assert named_in("Volker Hentschel's dog", NAMES) == ["volker hentschel", "volker"]
    assert named_in("Wo wohnt Herr Hentschel?", NAMES) == ["volker hentschel"]


def test_what_is_embedded_instead_names_nobody_either() -> None:
    request = SearchRequest("t", "a", "Volker's dog", "user:1", vector_query="Hi\nVolker's dog")
    asked = of_owner(request, NAMES, "english")
    assert (asked.query, asked.vector_query) == ("my dog", "Hi my dog")
    assert of_owner(SearchRequest("t", "a", "dog"), NAMES, "english").vector_query is None
