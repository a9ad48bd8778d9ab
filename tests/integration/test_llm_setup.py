"""Which language model a server has follows from its settings; what is said of it holds no key."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_server.app.language import language_model
from reverie_server.cli.doctor import effective
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

URL = "http://127.0.0.1:9/v1"


def test_without_settings_there_is_no_model(runtime: Runtime) -> None:
    assert runtime.llm is None


def test_address_and_model_make_one(talking: Runtime) -> None:
    assert talking.llm is not None
    assert talking.llm.model == "scripted"
    assert not talking.llm.has_key


@pytest.mark.parametrize("given", [{"llm_base_url": URL}, {"llm_model": "m"}, {"llm_base_url": "x", "llm_model": "m"}])
def test_half_a_configuration_is_an_error_at_start(database: Database, given: dict[str, str]) -> None:
    with pytest.raises(SetupError, match="REVERIE_LLM_BASE_URL"):
        language_model(Settings.load(**given), database)


def test_the_report_masks_the_key_and_what_stands_in_an_address() -> None:
    settings = Settings.load(
        llm_base_url="https://ada:hunter2@example.org/v1", llm_model="m", llm_api_key=SecretStr("sk-secret")
    )
    lines = list(effective(settings))
    assert "llm_base_url = https://********@example.org/v1" in lines
    assert "llm_api_key = ********" in lines
    assert not any(secret in "\n".join(lines) for secret in ("hunter2", "sk-secret", "ada:"))
