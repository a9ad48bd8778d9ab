"""The sentences of a conversation that are worth keeping, as they were said, found without a model. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reverie_indexer.text.split import split
from reverie_server.heuristics.corrections.correction import Where, behind
from reverie_server.heuristics.corrections.taken_back import taken_back_by
from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.requests.errands import is_errand
from reverie_server.heuristics.requests.fact_requests import split_request
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.requests.not_to_be_kept import asks_not_to_keep
from reverie_server.heuristics.requests.recollections import only_recalls
from reverie_server.heuristics.salience import MAX_TEXT_CHARS, NOTABLE, asks, rarity, salience, sentences
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

CountTokens = Callable[[str], int]

MAX_LINE_CHARS = 300
MAX_LINES = 20
# At most this many of the best sentences are compared with each other, which takes quadratic time.
_CANDIDATES = 200
# A conversation is read up to _MAX_CHARS characters: each message gets an equal share from its beginning, and at least
# _FEWEST_CHARS_EACH.
_MAX_CHARS = 1_000_000
_FEWEST_CHARS_EACH = 500
# Two lines say the same from this share of common words on, of all words of both.
_SAME_SHARE = 0.75
_NUMBER = re.compile(r"\d++(?:[.,:]\d++)*+")
_UNSPACED_ENDS = ("。", "！", "？", "」", "』")
# A sentence with fewer characters behind its lead keeps the lead, without which it says nothing.
_FEWEST_CHARS = 6
_NOT_CUT = ("to ", "me ", "when ", "how ", "what ")
_SPEAKERS = {"user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class Note:
    """A line for a note, and the message that it is from."""

    line: str
    message: Message


@dataclass(frozen=True, slots=True)
class UserStatement:
    """A user's statement to keep: `text` is a line of its own, `sentence` the sentence that it is from."""

    text: str
    category: str
    message: Message
    sentence: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a few that follow each other. `at`: the number of its message, and its number in the message.

    `said` are the sentences of one that the next one corrects, else (). `cues` are those of its message's language,
    `kinds` the kinds of cues in it.
    """

    message: Message
    at: tuple[int, int]
    text: str
    score: float
    asks: bool
    cues: Cues | None
    kinds: frozenset[str]
    said: tuple[str, ...] = ()


def notable_lines(messages: Sequence[Message]) -> list[str]:
    """The lines of `notes_of`."""
    return [note.line for note in notes_of(messages)]


def notes_of(
    messages: Sequence[Message], *, without: Collection[str] = (), resolved: Mapping[str, str] | None = None
) -> list[Note]:
    """Lines for a daily note: the user's notable statements and the assistant's decisions; in order, distinct.

    At most MAX_LINES of at most MAX_LINE_CHARS characters, the best where there are more. Questions, greetings, code
    blocks, tool output and text that the memory had injected are never among them, nor requests to forget, nor the
    sentences `without`. In place of a sentence stands what `resolved` has for it, with names in place of pronouns. One
    that is corrected in the next stands with it, or as it then holds.
    """
    worth = [
        piece
        for piece in _pieces(messages)
        if not piece.asks
        and piece.score >= NOTABLE
        and (piece.message.role == "user" or "decision" in piece.kinds)
        and not any(sentence in without for sentence in (piece.text, *piece.said))
        and split_request(piece.text).kind in ("none", "inside")
        and not (piece.message.role == "user" and forget_requests(piece.text))
    ]
    worth = [replace(piece, text=_resolved(piece, resolved or {})) for piece in worth]
    lines = _distinct(_joined(_best(worth, _CANDIDATES)))
    return [Note(_note_line(line), line.message) for line in _best(lines, MAX_LINES)]


def _resolved(piece: _Piece, resolved: Mapping[str, str]) -> str:
    return resolved.get(piece.said[-1] if piece.said else piece.text, piece.text)


def statements_of(messages: Sequence[Message]) -> list[UserStatement]:
    """The statements that the user asked to remember, and notable preferences, in order, distinct.

    The words that ask to remember are left out where the language allows it. A statement with a cue of time ends with
    the day (UTC) on which it was said.
    """
    found = [
        piece
        for piece in _pieces(messages)
        if piece.message.role == "user"
        and not piece.asks
        and ("remember" in piece.kinds or ("preference" in piece.kinds and piece.score >= NOTABLE))
    ]
    return [
        UserStatement(
            _as_fact(piece), _category(piece.kinds), piece.message, piece.said[-1] if piece.said else piece.text
        )
        for piece in _distinct(_best(found, MAX_LINES))
    ]


def asks_to_remember(text: str) -> bool:
    """Whether a text asks to remember something, in any of the languages that have cues."""
    plain = strip_injected(text)[:MAX_TEXT_CHARS]
    # A line with a password is no note, but a person may ask to keep it.
    for sentence in (plain[span.start : span.end] for span in spoken_sentences(plain)):
        kind = split_request(sentence).kind
        if kind in ("before", "next", "named") or (kind == "inside" and not asks(sentence, None)):
            return True
    found = sentences(plain)
    cues = _cues_of(found, None)
    return any("remember" in _kinds(sentence, cues) and not asks(sentence, cues) for sentence in found)


def without_request(sentence: str, cues: Cues | None) -> str:
    """A sentence on one line without the words that ask to remember it, where it can stand without them."""
    cut = sentence[_lead_end(sentence, cues) if cues else 0 :]
    # "Remember to call" stays whole: "to call" alone is no fact.
    whole = len(cut) < _FEWEST_CHARS or folded(cut).startswith(_NOT_CUT)
    return sentence if whole else cut[0].upper() + cut[1:]


def summarise(messages: Sequence[Message], previous: str, *, max_tokens: int, count: CountTokens) -> str:
    """A summary of at most `max_tokens` by `count`: the best sentences of both sides, as lines `- User: …`, in order.

    The best lines of the previous summary stay, within half of `max_tokens`. A question of the user that nobody
    answered yet stays. "" when no sentence is worth a line, or no line fits.
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
    return _with_corrections(pieces)


def _with_corrections(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The pieces, of which each that the user corrects in the next sentence stands as one with it."""
    spoken = [at for at, piece in enumerate(pieces) if piece.message.role == "user"]
    joined: dict[int, _Piece] = {}
    gone: set[int] = set()
    for order, at in enumerate(spoken):
        piece, following = pieces[at], spoken[order + 1 : order + 3]
        if at in gone or piece.asks or not following:
            continue
        between = pieces[at + 1 : following[0]]
        where: Where = "next"
        if between:
            where = behind(" ".join(each.text for each in between))
            where = "answer_to_question" if any(each.asks for each in between) else where
        count = taken_back_by(piece.text, [pieces[each].text for each in following], piece.cues, where)
        if count:
            said = tuple(pieces[each].text for each in (at, *following[:count]))
            space = "" if piece.text.endswith(_UNSPACED_ENDS) else " "
            joined[at] = replace(piece, text=space.join(said), said=said)
            gone.update(following[:count])
    return [joined.get(at, piece) for at, piece in enumerate(pieces) if at not in gone]


def _cues_of(found: Sequence[str], common: Cues | None) -> Cues | None:
    """The cues of the sentences' language. Where they are too short to tell: of the first language in which one of
    them begins with words that ask to remember. None where there is none."""
    known = cues_of(folded("\n".join(found)), common)
    if known is not None:
        return known
    return next((c for c in all_cues().values() if any(_lead_end(sentence, c) for sentence in found)), None)


def _kinds(sentence: str, cues: Cues | None) -> frozenset[str]:
    """The kinds of cues in a sentence; one with a lead has the kind `remember` too."""
    if cues is None:
        return frozenset()
    text = folded(sentence)
    kinds = {kind for kind, pattern in cues.kinds.items() if pattern.search(text)}
    if _lead_end(sentence, cues):
        kinds.add("remember")
    # "Don't remember that my PIN is 8812" has the words of a request for the contrary.
    is_none = "remember" in kinds and (asks_not_to_keep(text) or only_recalls(text) or is_errand(text))
    return frozenset(kinds - {"remember"} if is_none else kinds)


def _lead_end(sentence: str, cues: Cues) -> int:
    """Where the fact begins, behind the words that ask to remember it; 0 where there are none that can be cut."""
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
    """The pieces, with those that follow each other in a message joined into one while they fit a line."""
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
    """The pieces without those that share _SAME_SHARE of their words, and all numbers, with an earlier one."""
    kept: list[tuple[_Piece, frozenset[str], frozenset[str]]] = []
    for piece in pieces:
        text = folded(piece.text)
        words, numbers = frozenset(text.split()), frozenset(_NUMBER.findall(text))
        if not any(numbers == others and _share(words, seen) >= _SAME_SHARE for _, seen, others in kept):
            kept.append((piece, words, numbers))
    return [piece for piece, *_ in kept]


def _share(words: frozenset[str], seen: frozenset[str]) -> float:
    """The share of common words, of all words of both pieces."""
    most, all_words = min(len(words), len(seen)), len(words) + len(seen)
    # Where the numbers of words are very different, the share cannot be enough.
    if most < _SAME_SHARE * max(len(words), len(seen)):
        return 0.0
    shared = len(words & seen)
    return shared / (all_words - shared) if all_words else 1.0


def _best_lines(previous: str, max_tokens: int, count: CountTokens) -> list[str]:
    """The lines of a summary with the best scores that fit into `max_tokens`, in their order; of equals the newer."""
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


def _note_line(piece: _Piece) -> str:
    speaker = "Assistant: " if piece.message.role == "assistant" else ""
    return f"{speaker}{_cut(piece.text, MAX_LINE_CHARS - len(speaker))}"


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
