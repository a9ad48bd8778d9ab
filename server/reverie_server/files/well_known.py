"""The paths that mean something: instructions, daily notes. Pure."""

from __future__ import annotations

from datetime import date

# What tells a shared agent how to be is no memory: cleared only where the prefix says so.
INSTRUCTIONS = ("AGENTS.md", "SOUL.md")
# Who the person is.
PROFILE = "PROFILE.md"


def note_path(day: date) -> str:
    """Where the daily note of a day is."""
    return f"memory/{day.isoformat()}.md"
