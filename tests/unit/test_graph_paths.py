"""What was reached, told by names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reverie_server.graph.model import Entity, Relation
from reverie_server.graph.paths import Step, in_order, needed, path_of, way_to
from reverie_server.graph.search import ranked
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.search.rank import Weights

AT = datetime(2026, 4, 3, tzinfo=UTC)
NAMES = {1: "Ada", 2: "Reverie", 3: "Indexer", 4: "Bo"}


def entity(number: int) -> Entity:
    return Entity(number, "x", "project", NAMES[number], "", (), {}, 0.9, AT, EXTRACTIVE, AT, AT, "team", None)


def relation(number: int, source: int, name: Any, target: int) -> Relation:
    return Relation(number, source, NAMES[source], name, target, NAMES[target], 0.9, AT, None, AT, EXTRACTIVE)


def test_a_path_reads_from_left_to_right_whichever_way_a_relation_points() -> None:
    steps = {2: Step(1, 10, 1), 3: Step(2, 11, 2), 4: Step(1, 12, 1)}
    entities = {number: entity(number) for number in NAMES}
    relations = {
        10: relation(10, 1, "works_on", 2),
        11: relation(11, 3, "part_of", 2),
        12: relation(12, 4, "manages", 1),
    }
    assert path_of(3, steps, entities, relations) == "Ada -works_on-> Reverie <-part_of- Indexer"
    assert path_of(4, steps, entities, relations) == "Ada <-manages- Bo"
    assert way_to(1, steps) == [1]
    assert needed([3], steps) == ({1, 2, 3}, {10, 11})
    assert in_order([1], steps) == [1, 2, 4, 3]


def test_what_a_question_names_comes_first_and_what_only_looks_alike_a_little_not_at_all() -> None:
    def row(number: int, text: float, cosine: float | None, *, named: bool = False) -> dict[str, Any]:
        return {"entity_id": number, "is_named": named, "text": text, "cosine": cosine}

    rows = [row(1, 0.0, 0.39), row(2, 0.0, 0.8), row(3, 2.0, 0.5), row(4, 1.0, None, named=True), row(5, 0.2, 0.1)]
    found = ranked(rows, Weights(0.3, 0.7))
    # 3: 0.3 · 1 + 0.7 · 0.5; 2: 0.7 · 0.8; 4 is named; 1 is too far away, 5 not half as good as the best.
    assert found == {4: 0.15, 3: 0.65, 2: 0.56}
    assert list(found) == [4, 3, 2]
    assert ranked([], Weights(0.3, 0.7)) == {}
