"""The small pure parts of embedding."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from reverie_indexer.embed.deterministic import hashed_vector
from reverie_indexer.embed.endpoint_client import EndpointConfig, parse_retry_after
from reverie_indexer.embed.protocol import replace_surrogates, unit_vector
from reverie_indexer.errors import SetupError

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("Sat, 21 Nov 2026 12:01:30 GMT", 90.0),
        ("Sat, 21 Nov 2026 12:01:30 -0000", 90.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_is_understood_in_both_forms(header: str | None, seconds: float | None) -> None:
    assert seconds == parse_retry_after(header, NOW)


def test_a_vector_is_divided_by_its_length() -> None:
    unit = unit_vector(np.array([3.0, 0.0, -4.0]))
    assert unit is not None
    assert np.float32 == unit.dtype
    np.testing.assert_allclose(unit, [0.6, 0.0, -0.8], rtol=1e-7)


@pytest.mark.parametrize("raw", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_what_is_no_direction_is_no_vector(raw: list[float]) -> None:
    assert unit_vector(np.array(raw)) is None


def test_lone_surrogates_are_replaced_and_nothing_else() -> None:
    assert replace_surrogates("a\ud800b\udfff 🜁") == "a\ufffdb\ufffd 🜁"


@pytest.mark.parametrize("address", ["", "localhost:8080/v1", "ftp://host/v1", "http://"])
def test_an_address_that_is_no_http_address_is_a_setup_error(address: str) -> None:
    with pytest.raises(SetupError, match="http"):
        EndpointConfig(base_url=address, model="m").check()


def test_a_configuration_shows_neither_key_nor_credentials_of_its_address() -> None:
    config = EndpointConfig(base_url="https://user:pass@host:8443/v1?k=1", model="m", api_key="sk-secret")
    assert config.host == "host:8443"
    assert "sk-secret" not in repr(config)


def test_hashed_vectors_are_the_same_on_every_machine() -> None:
    """`w:ab` is −2 at 3, `t:^ab` +½ at 3, `t:ab$` −½ at 2: (0, 0, −½, −1½) over its length √2.5."""
    np.testing.assert_allclose(hashed_vector("Ab!", 4), [0.0, 0.0, -0.31622777, -0.9486833], atol=1e-7)


def test_hashing_sees_shared_words_and_shared_spelling() -> None:
    base = hashed_vector("deploy the billing service", 384)
    same_words = float(base @ hashed_vector("The billing service: deploy!", 384))
    inflected = float(base @ hashed_vector("deployed billing services", 384))
    unrelated = float(base @ hashed_vector("grandmother's apple cake", 384))
    assert same_words > inflected > unrelated + 0.2
