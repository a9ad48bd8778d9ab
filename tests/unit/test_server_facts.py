"""The start-up check of a PostgreSQL server says what is wrong and what to do."""

from __future__ import annotations

import pytest

from reverie_indexer.database.preparing import _problem_of

GOOD = {
    "version_num": 160004,
    "version": "16.4",
    "encoding": "UTF8",
    "vector_version": "0.8.4",
    "vector_available": "0.8.6",
    "role_too_strong": False,
    "may_be_owner": True,
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"version_num": 150000, "version": "15.0"},
        {"vector_version": None},
        {"vector_version": "0.10.0"},
        {"vector_version": "1.0"},
    ],
)
def test_a_server_that_will_do_has_no_problem(change: dict[str, object]) -> None:
    assert _problem_of({**GOOD, **change}) is None


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"version_num": 140012, "version": "14.12"}, "PostgreSQL 14.12 is too old: Reverie needs 15 or newer"),
        (
            {"may_be_owner": False, "tables_owner": "ada", "login": "ben"},
            "the tables belong to the role ada, as which ben may not work",
        ),
        ({"encoding": "SQL_ASCII"}, "create it with ENCODING 'UTF8'"),
        ({"vector_version": None, "vector_available": None}, "install pgvector 0.8.4 or newer"),
        ({"vector_version": "0.8.3"}, "ALTER EXTENSION vector UPDATE"),
        ({"vector_version": "0.7.4"}, "pgvector 0.7.4 is too old"),
        ({"vector_version": None, "vector_available": "0.8.0"}, "pgvector 0.8.0 is too old"),
        ({"role_too_strong": True}, "ALTER ROLE reverie_app NOSUPERUSER NOBYPASSRLS"),
    ],
)
def test_each_wrong_fact_gives_its_remedy(change: dict[str, object], sentence: str) -> None:
    problem = _problem_of({**GOOD, **change})
    assert problem is not None
    assert sentence in problem
