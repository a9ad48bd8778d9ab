"""Phrases that are compiled late, or together, find what each of them finds by itself."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from reverie_server.graph.phrases import all_phrases as all_graph_phrases
from reverie_server.heuristics import cues
from reverie_server.heuristics.fact_grammar.phrases import all_phrases, all_roles

TABLE = tomllib.loads(Path(cues.__file__).with_name("cues.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", sorted(TABLE))
def test_each_phrase_is_found_as_a_word(language: str) -> None:
    known = cues.all_cues()[language]
    for kind, pattern in known.kinds.items():
        for phrase in TABLE[language][kind]:
            said = cues.folded(phrase).replace(" .. ", " so and ").replace("*", "")
            assert pattern.search(f"({said})"), (kind, phrase)
            if not known.unspaced and said[0].isalnum() and len(said.split()) == 1 and not phrase.startswith("*"):
                inside = pattern.search(f"qx{said}")
                assert inside is None or inside.start() != 2, (kind, phrase)


def test_every_verb_of_the_graph_compiles_when_it_is_needed() -> None:
    for phrases in all_graph_phrases().values():
        for verb in phrases.verbs:
            assert list(verb.pattern.finditer("")) == []


def test_the_phrases_of_facts_are_there_by_language() -> None:
    phrases = all_phrases()
    assert list(phrases) == ["english", "german", "spanish", "chinese"]
    assert "klingon" not in phrases
    assert phrases.get("klingon") is None
    assert phrases["german"] is phrases["german"]
    every = [phrases[language].relations for language in phrases]
    assert all_roles() == {role for each in every for role in (*each.single, *each.many)}
