"""The part of the composition root that reads how the language model is called, and how tokens are counted."""

from __future__ import annotations

from reverie_indexer.database.database import Database
from reverie_indexer.errors import SetupError
from reverie_server.llm.budget import CallBudget
from reverie_server.llm.endpoint import Endpoint, EndpointConfig
from reverie_server.llm.provider import LanguageModel
from reverie_server.settings.server import Settings
from reverie_server.text.tokens import CountTokens, estimate_tokens, load_tokenizer


def language_model(settings: Settings, database: Database) -> LanguageModel | None:
    """The configured language model, which is not called here; None where none is configured.

    Raises SetupError where only half of it is configured.
    """
    if settings.llm_base_url is None and settings.llm_model is None:
        return None
    if settings.llm_base_url is None or settings.llm_model is None:
        raise SetupError("a language model needs both REVERIE_LLM_BASE_URL and REVERIE_LLM_MODEL")
    config = EndpointConfig(
        base_url=settings.llm_base_url,
        model=settings.llm_model,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
        timeout_seconds=settings.llm_timeout_seconds,
        max_retries=settings.llm_max_retries,
        max_response_bytes=settings.llm_max_response_bytes,
        breaker_failures=settings.llm_breaker_failures,
        breaker_pause_seconds=settings.llm_breaker_pause_seconds,
    )
    return LanguageModel(Endpoint(config), CallBudget(database, settings.llm_calls_per_day))


def token_counter(settings: Settings) -> CountTokens:
    """How tokens are counted: by the configured tokenizer, else estimated. Raises SetupError for another file."""
    return load_tokenizer(settings.llm_tokenizer_file) if settings.llm_tokenizer_file else estimate_tokens
