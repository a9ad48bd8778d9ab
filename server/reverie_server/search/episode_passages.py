"""Passages of episodes: how they read in a prompt, and whether they only repeat other results. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.model import Tier
from reverie_indexer.text.analyse import fold
from reverie_server.sessions.daily_log import parts_of, repeats
from reverie_server.sessions.spoken import spoken
from reverie_server.text.redact import body_of


def sentences_of(passage: str) -> list[str]:
    """The lines of a passage of a summary, without list marks and speakers' names; empty lines are left out."""
    return [sentence for line in passage.splitlines() if (sentence := spoken(line))]


def episode_text(passage: str, abstract: str) -> str:
    """The text that stands for an episode in a prompt: its abstract where the passage found contains it, else the
    passage on one line.

    The abstract is the beginning of the summary. Where the end of the summary was found, it would be beside the point.
    """
    text = " ".join(sentences_of(passage))
    return abstract if abstract and _folded(abstract.removesuffix("…")) in _folded(text) else text


def only_repeats(passage: str, messages: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether each sentence of a passage of a summary stands, to the letter, in a message or a line of the daily log.

    False for a passage without a sentence. Lines that are not of the daily log are ignored.
    """
    sentences = sentences_of(passage)
    folded_messages = [_folded(message) for message in messages]
    log_lines = [line for line in lines if parts_of(line) is not None]
    return bool(sentences) and all(
        any(_folded(sentence.removesuffix("…")) in message for message in folded_messages)
        or any(repeats(line, sentence) for line in log_lines)
        for sentence in sentences
    )


def statement_text(passage: str, tier: Tier) -> str:
    """The statement of a passage: a file's text without headings, an episode's single line without its speaker."""
    sentences = sentences_of(passage) if tier == "episodic" else []
    return sentences[0] if len(sentences) == 1 else body_of(passage)


def _folded(text: str) -> str:
    return " ".join(fold(text).split())
