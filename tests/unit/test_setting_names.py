"""A name that nothing reads is an error that says the nearest known name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reverie_indexer.errors import SetupError
from reverie_server.settings.names import unknown_variables, without_services
from reverie_server.settings.server import Settings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("REVERIE_EXTRACTION_COOLDOWN", "REVERIE_EXTRACTION_COOLDOWN_SECONDS"),
        ("REVERIE_DATABSE_URL", "REVERIE_DATABASE_URL"),
        ("reverie_prot", "REVERIE_PORT"),
        ("REVERIE_API_KEYS", "REVERIE_API_KEY"),
        ("REVERIE_BOOTSTRAP_KEY", "REVERIE_BOOTSTRAP_ADMIN_KEY"),
    ],
)
def test_an_unknown_variable_is_an_error_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, name: str, nearest: str
) -> None:
    monkeypatch.setenv(name, "1")
    with pytest.raises(SetupError) as raised:
        Settings.load()
    assert f"{name}: there is no such setting (the nearest name is {nearest})" in raised.value.detail


# As Kubernetes sets them in each container of a namespace with a Service `reverie` and a Service `reverie-postgres`.
OF_SERVICES = {
    "REVERIE_SERVICE_HOST": "10.96.0.7",
    "REVERIE_SERVICE_PORT": "8077",
    "REVERIE_SERVICE_PORT_HTTP": "8077",
    "REVERIE_PORT": "tcp://10.96.0.7:8077",
    "REVERIE_PORT_8077_TCP": "tcp://10.96.0.7:8077",
    "REVERIE_PORT_8077_TCP_PROTO": "tcp",
    "REVERIE_PORT_8077_TCP_PORT": "8077",
    "REVERIE_PORT_8077_TCP_ADDR": "10.96.0.7",
    "REVERIE_POSTGRES_SERVICE_HOST": "10.96.0.8",
    "REVERIE_POSTGRES_PORT": "tcp://10.96.0.8:5432",
    "REVERIE_POSTGRES_PORT_5432_TCP_ADDR": "10.96.0.8",
}


def test_what_kubernetes_says_of_services_is_no_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "reverie.toml").write_text("port = 8099\n")
    monkeypatch.chdir(tmp_path)
    for name, value in OF_SERVICES.items():
        monkeypatch.setenv(name, value)
    assert Settings.load().port == 8099
    monkeypatch.setenv("REVERIE_PORT", "8100")
    assert Settings.load().port == 8100
    monkeypatch.setenv("REVERIE_PORT", "many")
    with pytest.raises(SetupError, match="port: Input should be a valid integer"):
        Settings.load()


def test_no_setting_is_taken_for_one_of_kubernetes() -> None:
    ours = {f"REVERIE_{name.upper()}": "1" for name in Settings.model_fields}
    assert without_services(ours) == ours


@pytest.mark.parametrize("name", [name for name in Settings.model_fields if name.endswith(("_seconds", "_days"))])
@pytest.mark.parametrize("value", ["inf", "nan", "1e300", "99999999999999999999"])
def test_no_time_is_longer_than_can_be_reckoned_with(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"REVERIE_{name.upper()}", value)
    with pytest.raises(SetupError, match=f"{name}: Input should be"):
        Settings.load()


def test_an_unknown_key_of_the_file_is_an_error_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "reverie.toml").write_text('prot = 8077\nREVERIE_HOST = "127.0.0.1"\nport = "many"\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SetupError) as raised:
        Settings.load()
    assert "prot: there is no such setting (the nearest name is port)" in raised.value.detail
    assert "REVERIE_HOST: there is no such setting (the nearest name is host)" in raised.value.detail
    assert "port: Input should be a valid integer" in raised.value.detail


@pytest.mark.parametrize("content", [b"port = \n", b'host = "\xff"\n'])
def test_a_file_that_is_no_toml_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "reverie.toml").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SetupError, match=r"reverie\.toml: "):
        Settings.load()


def test_every_variable_that_the_code_reads_is_known() -> None:
    read: set[str] = set()
    for folder in ("client", "indexer", "server", "examples", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            read.update(re.findall(r"\bREVERIE_[A-Z_]*[A-Z]\b", path.read_text()))
    for path in (ROOT / "tests/conftest.py", *(ROOT / "tests/canary").glob("*.py"), ROOT / "compose.yaml"):
        read.update(re.findall(r"\bREVERIE_[A-Z_]*[A-Z]\b", path.read_text()))
    assert {"REVERIE_API_KEY", "REVERIE_TEST_DATABASE_URL"} <= read
    assert unknown_variables(sorted(read), Settings.model_fields) == []
