"""The hosts of a URL of several, each with a URL of its own."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from reverie_indexer.database.standby import each_host


@pytest.mark.parametrize(
    ("conninfo", "hosts"),
    [
        ("postgresql://me@one/db", [("one:5432", "one", None)]),
        ("postgresql://me@one:6,two:7/db?load_balance_hosts=random", [("one:6", "one", "6"), ("two:7", "two", "7")]),
        ("host=one,two port=6 user=me dbname=db", [("one:6", "one", "6"), ("two:6", "two", "6")]),
        ("host=/a/run,/b/run user=me dbname=db", [("/a/run:5432", "/a/run", None), ("/b/run:5432", "/b/run", None)]),
        ("user=me dbname=db", [("localhost:5432", None, None)]),
    ],
)
def test_each_host_has_its_own_url(conninfo: str, hosts: list[tuple[str, str | None, str | None]]) -> None:
    found = each_host(conninfo)
    alone = [(name, conninfo_to_dict(url)) for name, url in found]
    assert [(name, given.get("host"), given.get("port")) for name, given in alone] == hosts
    assert all((given["user"], given["dbname"]) == ("me", "db") for _, given in alone)


def test_an_address_belongs_to_its_host() -> None:
    found = each_host("host=one,two hostaddr=10.0.0.1,10.0.0.2 port=,7")
    alone = [(name, conninfo_to_dict(url)) for name, url in found]
    assert [(name, given["hostaddr"], given["port"]) for name, given in alone] == [
        ("one:5432", "10.0.0.1", ""),
        ("two:7", "10.0.0.2", "7"),
    ]
