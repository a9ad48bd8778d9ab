"""Passages of episodes: how they read in a prompt. Pure."""

from __future__ import annotations

from reverie_indexer.model import Tier
from reverie_indexer.text.analyse import fold
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


def statement_text(passage: str, tier: Tier) -> str:
    """The statement of a passage: a file's text without headings, an episode's single line without its speaker."""
    sentences = sentences_of(passage) if tier == "episodic" else []
    return sentences[0] if len(sentences) == 1 else body_of(passage)


def _folded(text: str) -> str:
    return " ".join(fold(text).split())
