"""A fact in plain words, as a question about it would name it. Pure but for reading `fact_labels.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.subjects import called_at
from reverie_server.heuristics.fact_grammar.terms import is_unspaced
from reverie_server.heuristics.stated_fact import SELF

# What a label says besides the statement.
_APPOSITION = re.compile(r"[,，] ?")


@cache
def _labels() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    return tomllib.loads(Path(__file__).with_name("fact_labels.toml").read_text(encoding="utf-8"))


def label_of(subject: str, predicate: str, object_: str, text: str, language: str, *, is_end: bool = False) -> str:
    """The fact as a statement in the language of its text (most likely `language`); "" for a predicate without one, and
    for what says that something is over (`is_end`): "We split up, Dani and I" has another partner in it than "My
    partner is Dani".

    "We found a flat in Malmö" is the answer to "Where do I live?", of which it has no word: the label has them.
    """
    cues = cues_of(folded(text), all_cues().get(language))
    spoken = cues.language if cues else language
    wording = _labels().get(spoken, {}).get(predicate)
    if wording is None or is_end:
        return ""
    if subject.startswith(f"{SELF}'s ") and (phrases := all_phrases().get(spoken)) is not None:
        # Somebody without a name is called as the text does.
        subject = called_at(text, phrases) or subject
    # Not `format`: a subject may hold braces.
    parts = wording["self" if subject == SELF else "other"].split("{s}")
    return subject.join(part.replace("{o}", object_) for part in parts)


def statement_without(
    subject: str,
    predicate: str,
    object: str,  # noqa: A002
    text: str,
    *,
    ended: Sequence[str],
    is_end: bool = False,
) -> str:
    """The statement of a fact without the objects that have `ended`; "" where no statement is left without them.

    Of "I work as a vet at Teme Clinic in Hereford", when the clinic has ended: "I work as a vet."
    """
    ends = [found.start() for over in ended if (found := _find(over, text)) is not None]
    if not ends:
        return text
    own = _find(object, text)
    # In Chinese the verb may stand behind both.
    if own is not None and own.end() <= min(ends) and not is_unspaced(text):
        return _whole(text[: own.end()])
    label = _whole(_APPOSITION.split(label_of(subject, predicate, object, text, "", is_end=is_end), maxsplit=1)[0])
    return "" if any(_find(over, label) for over in ended) else label


def said_once(statements: Iterable[str]) -> list[str]:
    """The statements in order, without those that are the beginning of another: facts of one sentence may be told by as
    much of it as comes before what has ended."""
    ends = " .,;:!。，；"
    each = list(dict.fromkeys(statement for statement in statements if statement))
    last = sorted((statement.rstrip(ends), statement) for statement in each)
    parts = {shorter for (begins, shorter), (longer, _) in pairwise(last) if _begins_with(longer, begins)}
    return [statement for statement in each if statement not in parts]


def _begins_with(text: str, words: str) -> bool:
    """Whether a text begins with some words, the last of them whole."""
    goes_on = text[len(words) : len(words) + 1]
    return text.startswith(words) and (not goes_on.isalnum() or is_unspaced(words))


def _find(words: str, text: str) -> re.Match[str] | None:
    """Where the words stand in a text, as whole words if its language has spaces; None for no words."""
    if not words:
        return None
    pattern = re.escape(words)
    return re.search(pattern if is_unspaced(words) else rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE)


def _whole(statement: str) -> str:
    return f"{stripped}." if (stripped := statement.rstrip(" .,;:!。，；")) else ""
