"""The words of sentences that tell a change, by language. Pure but for reading `changes.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def change_words() -> Mapping[str, Mapping[str, re.Pattern[str]]]:
    """Patterns for folded text, by language and kind: see `changes.toml`."""
    table = tomllib.loads(Path(__file__).with_name("changes.toml").read_text(encoding="utf-8"))
    return {
        language: {
            kind: re.compile(words if language == "chinese" else rf"(?<!\w)(?:{words})(?!\w)")
            for kind, words in kinds.items()
        }
        for language, kinds in table.items()
    }
