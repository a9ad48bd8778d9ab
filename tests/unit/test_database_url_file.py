"""The address of the database, with its password, comes from a file where a container is given it as a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie_indexer.errors import SetupError
from reverie_server.settings.server import Settings

URL = "postgresql://reverie:quincepassword@db/reverie"


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A directory without a reverie.toml, and no address of the tests' own."""
    monkeypatch.chdir(tmp_path)
    for name in ("REVERIE_DATABASE_URL", "REVERIE_READ_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_it_is_read_from_the_file_and_shown_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "url").write_text(f"{URL}\n")
    monkeypatch.setenv("REVERIE_DATABASE_URL_FILE", str(tmp_path / "url"))
    settings = Settings.load()
    assert settings.database_url is not None
    assert settings.database_url.get_secret_value() == URL
    assert "quincepassword" not in repr(settings)


@pytest.mark.parametrize(
    ("content", "url", "reason"),
    [
        (None, None, "cannot be read: No such file or directory"),
        (b" \n", None, "is empty"),
        (b"\xff\xfe", None, "cannot be read: it is not text"),
        (URL.encode(), URL, "give one of database_url and database_url_file"),
    ],
)
def test_what_is_no_address_is_refused(content: bytes | None, url: str | None, reason: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "url").write_bytes(content)
    with pytest.raises(SetupError, match=reason) as refused:
        Settings.load(database_url=url, database_url_file=tmp_path / "url")
    assert "quincepassword" not in refused.value.detail


def test_that_of_the_standby_is_read_in_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "standby").write_text(URL)
    settings = Settings.load(database_url="postgresql://db", read_database_url_file=tmp_path / "standby")
    assert settings.read_database_url is not None
    assert settings.read_database_url.get_secret_value() == URL
    assert "quincepassword" not in repr(settings)
    with pytest.raises(SetupError, match="give one of read_database_url and read_database_url_file"):
        Settings.load(database_url=URL, read_database_url=URL, read_database_url_file=tmp_path / "standby")


def test_the_embedded_server_has_no_standby() -> None:
    with pytest.raises(SetupError, match="the embedded PostgreSQL has no standby") as refused:
        Settings.load(read_database_url=URL)
    assert "quincepassword" not in refused.value.detail
