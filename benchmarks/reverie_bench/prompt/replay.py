"""Conversations to be replayed turn by turn, and the share of each prompt that repeats the one before. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reverie_bench.data import Collection
from reverie_bench.synthetic.text import made_up_sentences
from reverie_indexer.errors import ValidationFailed

SYSTEM_PROMPT = "You are a helpful assistant. Answer briefly, in the language of the question."
_FILES, _SENTENCES_A_FILE, _LONG_TERM = 20, 15, 20
# The first words of a made-up sentence: who did what to what of whom.
_EVENT_WORDS = 7


@dataclass(frozen=True, slots=True)
class Replay:
    """The files of memory before, by path, and the exchanges after: (user, assistant) texts in order."""

    files: Mapping[str, str]
    exchanges: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Repeated:
    """Of the prompts after the first: the mean share that is byte for byte the beginning of the one before, and the
    share of all their bytes together."""

    mean_share: float
    share: float


def made_up(seed: int, turns: int) -> Replay:
    """A memory of made-up sentences, and turns that ask about some of them and tell of others."""
    known = made_up_sentences(seed, _FILES * _SENTENCES_A_FILE)
    new = made_up_sentences(seed + 1, 2 * turns)
    files = {
        f"notes/{number:02}.md": "\n\n".join(known[number * _SENTENCES_A_FILE :][:_SENTENCES_A_FILE]) + "\n"
        for number in range(_FILES)
    }
    files["PROFILE.md"] = f"# Profile\n\n{new[0]}\n"
    files["MEMORY.md"] = "# Long-term Memory\n\n## Notes\n\n" + "".join(f"- {line}\n" for line in known[:_LONG_TERM])
    exchanges = []
    for number in range(turns):
        subject = known[(_LONG_TERM + 7 * number) % len(known)]
        event = " ".join(subject.split()[:_EVENT_WORDS])
        exchanges.append((f"{new[2 * number]} When was it that {event}?", new[2 * number + 1]))
    return Replay(files, exchanges)


def of_conversation(collection: Collection, turns: int) -> Replay:
    """The end of a real conversation between two: one is the user. Memory holds the days before it.

    ValidationFailed for a conversation that is shorter.
    """
    units = collection.units
    if len(units) <= 2 * turns:
        raise ValidationFailed(f"the conversation has no {turns} turns")
    first = units[len(units) - 2 * turns]
    files = {path: text for path, text in collection.notes.items() if path < first.path}
    texts = [_without_name(unit.text) for unit in units[len(units) - 2 * turns :]]
    return Replay(files, list(zip(texts[::2], texts[1::2], strict=True)))


def repeated(prompts: Sequence[bytes]) -> Repeated:
    """The shares of prompts that repeat the beginning of the prompt before; ValidationFailed for fewer than two."""
    if len(prompts) < 2:
        raise ValidationFailed("a prompt can repeat another only if there are two")
    common = [_in_common(before, after) for before, after in pairwise(prompts)]
    sizes = [len(prompt) for prompt in prompts[1:]]
    shares = [found / size for found, size in zip(common, sizes, strict=True)]
    return Repeated(sum(shares) / len(shares), sum(common) / sum(sizes))


def rendered(system_prompt: str, messages: Sequence[Mapping[str, str]]) -> bytes:
    """A prompt as bytes, in the order in which a model reads it."""
    lines = (f"\n\n{message['role']}: {message['content']}" for message in messages)
    return (system_prompt + "".join(lines)).encode()


def _in_common(before: bytes, after: bytes) -> int:
    pairs = zip(before, after, strict=False)
    return next((at for at, (x, y) in enumerate(pairs) if x != y), min(len(before), len(after)))


def _without_name(text: str) -> str:
    """A unit of a conversation without the name before it."""
    return text.partition(": ")[2] or text
