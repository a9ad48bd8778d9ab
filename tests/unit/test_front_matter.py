"""The tags of a file's front matter."""

from __future__ import annotations

import pytest

from reverie_server.text.front_matter import front_matter_tags, normal_tag


@pytest.mark.parametrize(
    ("content", "tags"),
    [
        ('---\ntags: [Travel, "Project Heron"]\n---\ntext', {"travel", "project heron"}),
        ("---\ntitle: x\ntags: travel, food\n---\n", {"travel", "food"}),
        ("---\ntags:\n  - travel\n- '#food'\ntitle: no - tag\n- none\n---\n", {"travel", "food"}),
        ("---\r\nTag: travel\r\n---\r\n", {"travel"}),
        ("---\ntags: []\n---\n", set()),
        ("---\ntags: [travel]\n", set()),
        ("text\n---\ntags: [travel]\n---\n", set()),
        ("", set()),
    ],
)
def test_tags_stand_in_brackets_between_commas_or_one_a_line(content: str, tags: set[str]) -> None:
    assert front_matter_tags(content) == tags


def test_a_tag_has_no_mark_and_no_capitals() -> None:
    assert normal_tag(" #Travel/Kenya ") == "travel/kenya"
    assert normal_tag("#") == ""
    assert normal_tag("x" * 65) == ""
