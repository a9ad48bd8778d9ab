"""What is told of a failure: never its words; our line, not a library's."""

from __future__ import annotations

import json
import re

import pytest

from reverie_indexer.errors import Conflict
from reverie_server.text.error_site import code_of, error_site


def test_the_line_that_called_a_library_is_told_and_not_the_librarys() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("Ada's secret")
    told = error_site(caught.value)
    assert re.fullmatch(r"JSONDecodeError at test_error_site\.py:\d+", told)
    assert "Ada" not in told


def test_an_error_that_was_never_raised_has_no_line() -> None:
    assert error_site(ValueError("x")) == "ValueError at an unknown line"


def test_the_code_of_what_is_expected_and_of_what_is_not() -> None:
    assert (code_of(Conflict("x")), code_of(ValueError("x"))) == ("conflict", "internal_error")
