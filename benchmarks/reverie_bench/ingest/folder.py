"""Folders of notes to be indexed: the notes of real data, or made up, dealt into parts of about the same size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from reverie_bench.data import Corpus
from reverie_bench.synthetic.text import made_up_sentences
from reverie_indexer.text.passages import Rules, passages_of

# Made up where no data is given.
_NOTES = 240
_PARAGRAPHS = 12
_SENTENCES = 3

Notes = Mapping[str, str]
"""Path to text."""


def notes_of(corpora: Sequence[Corpus]) -> dict[str, str]:
    """All notes of some corpora, each collection in a folder of its own, whose name is a number."""
    return {
        f"{first}-{second}/{path}": text
        for first, corpus in enumerate(corpora)
        for second, collection in enumerate(corpus.collections)
        for path, text in collection.notes.items()
    }


def made_up_notes(seed: int) -> dict[str, str]:
    """Notes of a heading and some paragraphs of common words and invented names; the same for the same seed."""
    sentences = iter(made_up_sentences(seed, _NOTES * _PARAGRAPHS * _SENTENCES))
    notes = {}
    for number in range(_NOTES):
        paragraphs = [" ".join(next(sentences) for _ in range(_SENTENCES)) for _ in range(_PARAGRAPHS)]
        notes[f"notes/{number:04}.md"] = "\n\n".join([f"# Note {number}", *paragraphs]) + "\n"
    return notes


def parts_of(notes: Notes, number: int, seed: int, rules: Rules) -> list[dict[str, str]]:
    """The notes in `number` parts with about as many passages each, drawn by a seed; every part in path order."""
    paths = sorted(notes)
    np.random.default_rng(seed).shuffle(paths)
    parts: list[dict[str, str]] = [{} for _ in range(number)]
    filled = [0] * number
    for path in paths:
        part = filled.index(min(filled))
        parts[part][path] = notes[path]
        filled[part] += len(passages_of(path, notes[path], rules))
    return [dict(sorted(part.items())) for part in parts]


def texts_of(notes: Notes, rules: Rules) -> list[str]:
    """The texts that a model embeds for notes: each distinct passage once, in order."""
    passages = (passage for path, text in notes.items() for passage in passages_of(path, text, rules))
    return list({passage.sha256: passage.text for passage in passages}.values())


def write_folder(root: Path, *parts: Notes) -> Path:
    """The notes as files under `root`, which is returned."""
    for path, text in (item for part in parts for item in part.items()):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    return root
