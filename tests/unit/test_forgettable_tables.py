"""Every table that may hold a person's words is reached by forgetting, or is listed with the reason why not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from reverie_server.app.stores import wire_stores
from reverie_server.episodes.make import EpisodeMaking, EpisodicRules
from reverie_server.forgettable import Forgettable
from reverie_server.jobs.defer import Delays
from reverie_server.text.tokens import estimate_tokens

SCHEMA = Path(__file__).parents[2] / "schema.sql"
# Of these types a column can hold a text, or what tells of one: words, hashes and vectors.
TELLING = re.compile(r"\s(?:text|jsonb|bytea|halfvec)\b")
NOT_REACHED: Mapping[str, str] = {
    "reverie_migrations": "the program's own",
    "schema_info": "the program's own",
    "models": "the program's own",
    "model_relevance": "what a model says of messages that come with the program",
    "slice_nearness": "ids and numbers",
    "agents": "names and settings that an admin gave",
    "slices": "ids alone",
    "events": "ids and numbers, never what anybody said",
    "extraction_retries": "a code and ids",
    "memory_compactions": "a code and ids",
    "stages": "codes",
    "report_views": "ids alone",
    "model_calls": "numbers",
    "model_outcomes": "codes and numbers",
    "removed_turns": "hashes of ids",
    "tombstones": "what forgetting leaves: a keyed hash, which tells nobody what it was",
    "receipts": "when, by whom, from where and how many, never the text",
    "tombstone_key": "the program's own",
    "keys": "a hash of a secret, and names that an admin gave",
    "browser_sessions": "a hash of a token, and the id of a key",
    "audit": "never a text, nor a path",
    "duplicates": "ids of entities, with which they go, and who decided",
    "merges": "ids of entities, with which they go, and who merged them",
    "job_errors": "a code, never memory text",
    "stage_runs": "codes and numbers",
    "scheduled_backups": "times and a code",
}


def telling_tables() -> set[str]:
    """The tables of `schema.sql` with such a column."""
    schema = SCHEMA.read_text()
    tables = re.findall(r"^CREATE TABLE IF NOT EXISTS (\w+) \((.*?)^\)", schema, re.MULTILINE | re.DOTALL)
    assert len(tables) > 30
    return {name for name, columns in tables if TELLING.search(columns)}


@pytest.fixture
def stores() -> list[Forgettable]:
    """The stores as `app` lists them."""
    making = EpisodeMaking(None, estimate_tokens, EpisodicRules())
    return list(wire_stores(making, Delays()).forgettable)


def test_every_table_with_texts_is_of_a_store_or_listed_with_a_reason(stores: list[Forgettable]) -> None:
    reached = frozenset().union(*(store.tables for store in stores))
    assert reached & NOT_REACHED.keys() == set()
    assert telling_tables() == reached | NOT_REACHED.keys()


def test_stores_that_are_cleared_name_a_tier_and_all_tiers_of_clearing_have_one(stores: list[Forgettable]) -> None:
    assert [store.cleared_with for store in stores if store.cleared_with] == [
        "document",
        "message",
        "fact",
        "episodic",
        "document",
        "message",
    ]
