"""The sentences of a conversation that are worth keeping, as they were said, found without a model. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reverie_indexer.text.split import split
from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.salience import MAX_TEXT_CHARS, NOTABLE, asks, rarity, salience, sentences
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

CountTokens = Callable[[str], int]

MAX_LINE_CHARS = 300
MAX_LINES = 20
# How many of the best are compared with each other, which takes time with their square.
_CANDIDATES = 200
# How much of a conversation is read: of many long messages the beginning of each, in equal shares, and of very many at
# least `_FEWEST_CHARS_EACH`.
_MAX_CHARS = 1_000_000
_FEWEST_CHARS_EACH = 500
# Words that two lines share, of all words of both, from which on they say the same.
_SAME_SHARE = 0.75
_UNSPACED_ENDS = ("。", "！", "？", "」", "』")
# What is left of a sentence without its lead, and says nothing without it.
_FEWEST_CHARS = 6
_NOT_CUT = ("to ", "me ", "when ", "how ", "what ")
_SPEAKERS = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class Note:
    """A line for a note, and the message that says it."""

    line: str
    message: Message


@dataclass(frozen=True, slots=True)
class UserStatement:
    """A statement of a user that is to be kept: as a line of its own, with the sentence that it is from."""

    text: str
    category: Literal["preferences", "profile", "notes"]
    message: Message
    sentence: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a few that follow each other. `at`: the number of its message, and its own within that.

    `cues` are those of its message's language, `kinds` the ones that speak for it.
    """

    message: Message
    at: tuple[int, int]
    text: str
    score: float
    asks: bool
    cues: Cues | None
    kinds: frozenset[str]


def notable_lines(messages: Sequence[Message]) -> list[str]:
    """The lines of `notes_of`."""
    return [note.line for note in notes_of(messages)]


def notes_of(messages: Sequence[Message], *, without: Collection[str] = ()) -> list[Note]:
    """Lines for a daily note: what the user stated, and what the assistant states as agreed; in order, distinct.

    At most 20 of at most 300 characters, the best where there are more; nothing notable: empty. Questions, greetings,
    code blocks, tool output and what memory had injected are never among them, nor the sentences `without`. A line that
    was said on another day (UTC) than the last message ends with its date.
    """
    worth = [
        piece
        for piece in _pieces(messages)
        if not piece.asks
        and piece.score >= NOTABLE
        and (piece.message.role == "user" or "decision" in piece.kinds)
        and piece.text not in without
    ]
    lines = _distinct(_joined(_best(worth, _CANDIDATES)))
    return [Note(_note_line(line, messages[-1]), line.message) for line in _best(lines, MAX_LINES)]


def statements_of(messages: Sequence[Message]) -> list[UserStatement]:
    """What the user asked to remember, and preferences that are notable, in order, distinct.

    Without the words that ask to remember, where a language has some that can be left out; with the day (UTC) it was
    said, where that decides what it means.
    """
    found = [
        piece
        for piece in _pieces(messages)
        if piece.message.role == "user"
        and not piece.asks
        and ("remember" in piece.kinds or ("preference" in piece.kinds and piece.score >= NOTABLE))
    ]
    return [
        UserStatement(_as_fact(piece), _category(piece.kinds), piece.message, piece.text)
        for piece in _distinct(_best(found, MAX_LINES))
    ]


def profile_of(messages: Sequence[Message]) -> list[UserStatement]:
    """What the user said of themselves that holds for long (name, home, work, family), in order, distinct."""
    found = [
        piece
        for piece in _pieces(messages)
        if piece.message.role == "user"
        and not piece.asks
        and {"fact", "self"} <= piece.kinds
        and not piece.kinds & {"decision", "time", "action"}
    ]
    return [
        UserStatement(_as_fact(piece), "profile", piece.message, piece.text)
        for piece in _distinct(_best(found, MAX_LINES))
    ]


def asks_to_remember(text: str) -> bool:
    """Whether a text asks to remember something, in any of the languages that have cues."""
    found = sentences(strip_injected(text))
    cues = _cues_of(found, None)
    return any("remember" in _kinds(sentence, cues) and not asks(sentence, cues) for sentence in found)


def without_request(sentence: str, cues: Cues | None) -> str:
    """A sentence on one line without the words that ask to remember it, where it can stand without them."""
    cut = sentence[_lead_end(sentence, cues) if cues else 0 :]
    # "Remember to call" is no lead and a fact.
    whole = len(cut) < _FEWEST_CHARS or folded(cut).startswith(_NOT_CUT)
    return sentence if whole else cut[0].upper() + cut[1:]


def summarise(messages: Sequence[Message], previous: str, *, max_tokens: int, count: CountTokens) -> str:
    """A summary of at most `max_tokens` by `count`: the best sentences of both sides, as lines `- User: …`, in order.

    The previous summary keeps its best lines within half of that. A question that nobody answered yet stays. "" when
    there is nothing to say or no room for a line of it.
    """
    pieces = _pieces(messages)
    last_number = max((piece.at[0] for piece in pieces), default=-1)
    open_question = next(
        (p for p in reversed(pieces) if p.asks and p.message.role == "user" and p.at[0] == last_number), None
    )
    candidates = _best([piece for piece in pieces if not piece.asks and piece.score > 0], _CANDIDATES)
    ranked = sorted(_distinct(candidates), key=lambda piece: (-piece.score, piece.at))
    if open_question is not None:
        ranked.insert(0, open_question)
    old = _best_lines(previous, max_tokens // 2, count)
    chosen: list[_Piece] = []
    for piece in ranked:
        longer = sorted([*chosen, piece], key=lambda chosen_piece: chosen_piece.at)
        if count("\n".join([*old, *map(_summary_line, longer)])) <= max_tokens:
            chosen = longer
    return "\n".join([*old, *map(_summary_line, chosen)])


def _pieces(messages: Sequence[Message]) -> list[_Piece]:
    """The sentences of user and assistant, scored, in order."""
    share = max(_FEWEST_CHARS_EACH, min(MAX_TEXT_CHARS, _MAX_CHARS // max(1, len(messages))))
    sentences_by_message = [
        (number, message, sentences(strip_injected(message.content), share))
        for number, message in enumerate(messages)
        if message.role in _SPEAKERS
    ]
    everything = [sentence for _, _, found in sentences_by_message for sentence in found]
    common = cues_of(folded("\n".join(everything)))
    rare = rarity(everything)
    pieces: list[_Piece] = []
    for number, message, found in sentences_by_message:
        cues = _cues_of(found, common)
        for index, text in enumerate(found):
            score = salience(text, cues, rare)
            kinds = _kinds(text, cues)
            pieces.append(_Piece(message, (number, index), text, score, asks(text, cues), cues, kinds))
    return pieces


def _cues_of(found: Sequence[str], common: Cues | None) -> Cues | None:
    """The cues of the language of some sentences; where they are too short to tell, of one in which they begin as one
    that asks to remember."""
    known = cues_of(folded("\n".join(found)), common)
    if known is not None:
        return known
    return next((c for c in all_cues().values() if any(_lead_end(sentence, c) for sentence in found)), None)


def _kinds(sentence: str, cues: Cues | None) -> frozenset[str]:
    """The kinds of cues that a sentence has; a lead asks to remember, also where its words alone do not."""
    if cues is None:
        return frozenset()
    text = folded(sentence)
    kinds = {kind for kind, pattern in cues.kinds.items() if pattern.search(text)}
    return frozenset(kinds | {"remember"} if _lead_end(sentence, cues) else kinds)


def _lead_end(sentence: str, cues: Cues) -> int:
    """Where what is to be remembered begins, behind the words that ask for it; 0: there are none that can be cut."""
    text = folded(sentence)
    if cues.lead is None or len(text) != len(sentence):
        return 0
    filler = cues.filler.match(text)
    lead = cues.lead.match(text, filler.end() if filler else 0)
    return lead.end() if lead else 0


def _as_fact(piece: _Piece) -> str:
    text = without_request(" ".join(piece.text.split()), piece.cues)
    dated = f" ({piece.message.at.date().isoformat()})" if "time" in piece.kinds else ""
    return f"{_cut(text, MAX_LINE_CHARS - len(dated))}{dated}"


def _category(kinds: Collection[str]) -> Literal["preferences", "profile", "notes"]:
    if "preference" in kinds:
        return "preferences"
    return "profile" if {"fact", "self"} <= set(kinds) else "notes"


def _best(pieces: Sequence[_Piece], count: int) -> list[_Piece]:
    """The pieces of the highest score, of equals the earlier, in the order of the conversation."""
    return sorted(sorted(pieces, key=lambda piece: (-piece.score, piece.at))[:count], key=lambda piece: piece.at)


def _joined(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Pieces that follow each other in a message as one, as long as they fit a line; longer ones cut to it."""
    pending: _Piece | None = None
    after = (-1, -1)
    for piece in pieces:
        if pending is not None and piece.at == after and len(pending.text) + 1 + len(piece.text) <= MAX_LINE_CHARS:
            space = "" if pending.text.endswith(_UNSPACED_ENDS) else " "
            text, score = f"{pending.text}{space}{piece.text}", max(pending.score, piece.score)
            pending = replace(pending, text=text, score=score)
        else:
            if pending is not None:
                yield pending
            pending = replace(piece, text=_cut(piece.text))
        after = (piece.at[0], piece.at[1] + 1)
    if pending is not None:
        yield pending


def _distinct(pieces: Sequence[_Piece] | Iterator[_Piece]) -> list[_Piece]:
    """The pieces without those that say again, in the same words, what an earlier one says."""
    kept: list[tuple[_Piece, frozenset[str]]] = []
    for piece in pieces:
        words = frozenset(folded(piece.text).split())
        if not any(_share(words, seen) >= _SAME_SHARE for _, seen in kept):
            kept.append((piece, words))
    return [piece for piece, _ in kept]


def _share(words: frozenset[str], seen: frozenset[str]) -> float:
    """How many words two pieces share, of all words of both."""
    most, all_words = min(len(words), len(seen)), len(words) + len(seen)
    # Of very different numbers of words never enough: nothing is to be counted.
    if most < _SAME_SHARE * max(len(words), len(seen)):
        return 0.0
    shared = len(words & seen)
    return shared / (all_words - shared) if all_words else 1.0


def _best_lines(previous: str, max_tokens: int, count: CountTokens) -> list[str]:
    """The lines of a summary that fit, the ones with the best scores, in their order; of equals the newer."""
    lines = [line.strip() for line in previous.splitlines() if line.strip()][-_CANDIDATES:]
    cues = cues_of(folded(previous))
    rare = rarity(lines)
    ranked = sorted(range(len(lines)), key=lambda index: (-salience(lines[index], cues, rare), -index))
    chosen: list[int] = []
    for candidate in ranked:
        longer = sorted([*chosen, candidate])
        if count("\n".join(lines[index] for index in longer)) <= max_tokens:
            chosen = longer
    return [lines[index] for index in chosen]


def _note_line(piece: _Piece, last: Message) -> str:
    day = piece.message.at.date()
    dated = "" if day == last.at.date() else f" ({day.isoformat()})"
    speaker = "Assistant: " if piece.message.role == "assistant" else ""
    return f"{speaker}{_cut(piece.text, MAX_LINE_CHARS - len(speaker) - len(dated))}{dated}"


def _summary_line(piece: _Piece) -> str:
    return f"- {_SPEAKERS[piece.message.role]}: {_cut(piece.text)}"


def _cut(text: str, max_chars: int = MAX_LINE_CHARS) -> str:
    """The text in one line of at most `max_chars`: cut after a sentence, else after a word."""
    text = " ".join(text.split())
    if len(text) <= max_chars:
        return text
    start, end = next(split(text, 0, len(text), max_chars=max_chars - 1, body_start=0, by_lines=False))
    piece = text[start:end]
    return piece if piece.endswith((".", "!", *_UNSPACED_ENDS)) else f"{piece}…"
