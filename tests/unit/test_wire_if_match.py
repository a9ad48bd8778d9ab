"""`If-Match`: one version, any version, or a refusal; never a silent write."""

from __future__ import annotations

import pytest

from reverie_indexer.errors import StaleVersion, ValidationFailed
from reverie_server.files.files import etag_of, parse_if_match


@pytest.mark.parametrize("version", [1, 9, 10, 123456789])
def test_the_entity_tag_of_a_version_demands_it(version: int) -> None:
    assert parse_if_match(etag_of(version)) == version
    assert parse_if_match(f" W/{etag_of(version)} ") == version, "a proxy that compresses makes a tag weak"
    assert parse_if_match(str(version)) == version


def test_no_header_demands_nothing_and_a_star_any_version() -> None:
    assert parse_if_match(None) is None
    assert parse_if_match("*") == 0


@pytest.mark.parametrize("header", ['"abc"', 'W/"x"', '""', '"0"', '"01"', '"-1"', '"9999999999"'])
def test_a_tag_that_no_version_has_is_stale(header: str) -> None:
    with pytest.raises(StaleVersion):
        parse_if_match(header)


@pytest.mark.parametrize("header", ["", "abc", '"1', "'1'", '"1", "2"', "0", "-1", "1.0", "9999999999", '"1""2"', "**"])
def test_what_is_no_single_tag_is_refused(header: str) -> None:
    with pytest.raises(ValidationFailed):
        parse_if_match(header)
