"""The paths that mean something: instructions, long-term memory, daily notes. Pure."""

from __future__ import annotations

from datetime import date

# What tells a shared agent how to be is no memory: cleared only where the prefix says so.
INSTRUCTIONS = ("AGENTS.md", "SOUL.md")
# The two names of the long-term memory. A place that has both uses the first.
LONG_TERM = ("MEMORY.md", "memory.md")
# Who the person is.
PROFILE = "PROFILE.md"


def note_path(day: date) -> str:
    """Where the daily note of a day is."""
    return f"memory/{day.isoformat()}.md"
