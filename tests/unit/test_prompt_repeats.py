"""What several parts of a prompt say stands in one of them, and no heading stays without its entries."""

from __future__ import annotations

import pytest

from reverie_server.prompt.context import Part
from reverie_server.prompt.marking import without_repeats

PROFILE = Part("profile", "## Profile\n\n# Profile\n\n- I live in Kiel.\n- Ich bin Lehrerin.")
TOLD = "[09:00] User: I live in Kiel. | Assistant: All right."


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Part("long_term_memory", "## Long-term Memory\n\n# Long-term Memory\n\n## Notes\n\n- I live in Kiel."), None),
        (
            Part(
                "long_term_memory", "## Long-term Memory\n\n### Notes\n\n- i live in Kiel\n\n### Projects\n\n- Orion."
            ),
            "## Long-term Memory\n\n### Projects\n\n- Orion.",
        ),
        (
            Part(
                "recent_context",
                "## Recent Context\n\n### 2026-05-03\n\n- I live in Kiel.\n\n### 2026-05-02\n\n- Rain.",
            ),
            "## Recent Context\n\n### 2026-05-02\n\n- Rain.",
        ),
        (
            Part(
                "recent_context",
                "## Recent Context\n\n### 2026-05-03\n\n- Rain.\n\n### 2026-05-02\n\n- I live in Kiel.",
            ),
            "## Recent Context\n\n### 2026-05-03\n\n- Rain.",
        ),
        (Part("todays_notes", "## Today's Notes\n\n- I live in Kiel. (2026-05-02)"), None),
        (
            Part("todays_notes", "## Today's Notes\n\n[09:00] User: I live in Kiel. We sail a lot. | Assistant: Oh."),
            "## Today's Notes\n\n[09:00] User: We sail a lot. | Assistant: Oh.",
        ),
        (
            Part("todays_notes", "## Today's Notes\n\nI live in Kiel, said a poem."),
            "## Today's Notes\n\nI live in Kiel, said a poem.",
        ),
        (
            Part("todays_notes", "## Today's Notes\n\n- I live in Kiel.\n\n```\n# not a heading\n```"),
            "## Today's Notes\n\n```\n# not a heading\n```",
        ),
    ],
)
def test_what_another_part_says_goes_with_the_heading_above_it(part: Part, text: str | None) -> None:
    kept = without_repeats([PROFILE, part])
    assert kept[0] == PROFILE
    assert [one.text for one in kept[1:]] == ([] if text is None else [text])
