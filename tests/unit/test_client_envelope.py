"""What the Python client makes of the envelope that control routes answer in."""

from __future__ import annotations

import httpx
import pytest

import reverie_client
from reverie_client import Reverie
from reverie_client.answer import failure


@pytest.mark.parametrize(
    ("status", "word", "kind"),
    [
        (404, {"error": "not_found"}, reverie_client.NotFound),
        (409, {"error": "ambiguous_match"}, reverie_client.AmbiguousMatch),
        (500, {"error": "internal_error"}, reverie_client.ServerFailed),
        (503, {"error": "search_timeout"}, reverie_client.Unavailable),
        (403, {}, reverie_client.Forbidden),
    ],
)
def test_an_error_is_that_of_its_word_and_without_one_of_its_status(
    status: int, word: dict[str, str], kind: type[reverie_client.ReverieError]
) -> None:
    error = failure(httpx.Response(status, json={"code": 500, "msg": "a sentence", **word, "hint": "more"}))
    assert type(error) is kind
    assert (error.code, error.status, error.detail) == (word.get("error", "error"), status, "a sentence")
    assert error.extra == {"hint": "more"}


def test_it_is_opened_and_a_busy_server_is_asked_again_for_reads_only() -> None:
    body = {"code": 500, "msg": "PostgreSQL does not answer", "error": "database_unavailable"}
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if len(asked) == 2:
            return httpx.Response(200, json={"code": 200, "data": None})
        return httpx.Response(503, json=body, headers={"Retry-After": "0"})

    with Reverie("http://reverie.test", transport=httpx.MockTransport(answer)) as reverie:
        me = reverie.agent("me", owner_key="user:42")
        assert me.morning_card() == ()
        assert asked == ["http://reverie.test/api/v1/memory/me/dream/morning-card?owner_key=user%3A42"] * 2
        with pytest.raises(reverie_client.Unavailable) as caught:
            me.run_emergence()
    assert (len(asked), caught.value.code, caught.value.retry_after_seconds) == (3, "database_unavailable", 0.0)


def test_what_stands_in_none_is_not_taken_for_an_answer() -> None:
    bare = httpx.MockTransport(lambda _: httpx.Response(200, json={"enabled": True}))
    with Reverie("http://reverie.test", transport=bare) as reverie, pytest.raises(reverie_client.UnexpectedAnswer):
        reverie.agent("me").dreaming_status()
