"""How passages of episodes read beside others: what they show, and which of them only repeat what is shown. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.analyse import fold
from reverie_indexer.model import Tier
from reverie_server.sessions.daily_log import parts_of, repeats
from reverie_server.sessions.spoken import spoken
from reverie_server.text.redact import body_of


def sayings_of(passage: str) -> list[str]:
    """The lines of a passage of a summary, without list marks and without who says them."""
    return [said for line in passage.splitlines() if (said := spoken(line))]


def of_episode(passage: str, abstract: str) -> str:
    """What stands for an episode in a prompt: its abstract where the passage found holds it, else that passage.

    The abstract of a summary whose end was found would say something else than what is wanted.
    """
    said = " ".join(sayings_of(passage))
    return abstract if abstract and _folded(abstract.removesuffix("…")) in _folded(said) else said


def only_repeats(passage: str, messages: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether each line of a passage of a summary was said so, to the letter, in one of some messages, or stands so in
    one of some lines of the daily log."""
    said = sayings_of(passage)
    folded = [_folded(message) for message in messages]
    logs = [line for line in lines if parts_of(line) is not None]
    return bool(said) and all(
        any(_folded(one.removesuffix("…")) in message for message in folded) or any(repeats(log, one) for log in logs)
        for one in said
    )


def text_of(passage: str, tier: Tier) -> str:
    """What a passage says: of a file without its headings; of one line of an episode without who says it."""
    lines = sayings_of(passage) if tier == "episodic" else []
    return lines[0] if len(lines) == 1 else body_of(passage)


def _folded(text: str) -> str:
    return " ".join(fold(text).split())
