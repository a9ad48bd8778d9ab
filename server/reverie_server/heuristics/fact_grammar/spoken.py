"""Ways of speaking that say a plain statement in other words, and that statement. Pure but for its data.

"We raised the kitchen budget to 9500" says that the kitchen budget is now 9500: what is said so is read as the plain
statement, so that the patterns of `facts.toml` need to know one way of saying a thing. The ways are in `spoken.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from reverie_server.heuristics.fact_grammar.objects import is_value, tidy
from reverie_server.heuristics.fact_grammar.phrases import Phrases, Rewrite
from reverie_server.heuristics.fact_grammar.terms import word_set
from reverie_server.heuristics.requests.fact_requests import aligned

# Where a name can begin, in one sentence.
_MAX_TRIES = 8
_GROUP = re.compile(r"<(\w+)>")
_SPACES = re.compile(r" {2,}")
_NAMED = re.compile(
    r"(?:(?:Dr|Prof|Mr|Mrs|Ms|St)\.? )?(?:(?:der|dem|the) )?[^\W\d_a-zß-öø-ÿ][\w’'&.-]*"
    r"(?: (?:[^\W\d_a-zß-öø-ÿ][\w’'&.-]*|van|von|de|del|der|da|of|and|&|für)){0,5}"
)
# What begins like a name at the beginning of a sentence and in German, and is none.
_NO_NAME = word_set(
    "i we he she it they you this that my our the a an there mum dad mom grandma grandpa ich wir er sie es das die der"
    " mein meine unser unsere mama papa oma opa arzt zahnarzt freunden eltern"
)
# What a sentence begins with in capitals, and is written without where it stands behind.
_SMALL = re.compile(
    r"(?:am|im|in|ins|an|auf|aus|bei|beim|mit|nach|von|vom|zu|zum|zur|für|über|gegen|den|die|das|dem|der|mein\w*|unser\w*"
    r"|en|el|la|los|las|lo|todos|todas|cada|mi|mis|nuestr\w*|the|my|our|on|every|at)(?!\w)",
    re.IGNORECASE,
)


def reworded(sentence: str, phrases: Phrases) -> str:
    """The sentence with what is said in other words as the plain statement; as it is where nothing is.

    Takes time linear in the sentence.
    """
    return reworded_by(phrases.rewrites, sentence)


def reworded_by(rewrites: Iterable[Rewrite], sentence: str) -> str:
    """The sentence after each of the rewrites in turn. Takes time linear in the sentence."""
    plain = aligned(sentence)
    for rewrite in rewrites:
        said = _rewritten(sentence, plain, rewrite)
        if said != sentence:
            sentence, plain = said, aligned(said)
    return sentence


def _rewritten(sentence: str, plain: str, rewrite: Rewrite) -> str:
    at = 0
    for _ in range(_MAX_TRIES):
        found = rewrite.pattern.search(plain, at)
        if found is None:
            break
        parts = {
            name: sentence[found.start(name) : found.end(name)]
            for name, value in found.groupdict().items()
            if value is not None
        }
        if all(_fits(name, part) for name, part in parts.items()):
            said = _said(rewrite.to, parts, {name for name in parts if found.start(name) == 0})
            before, after = sentence[: found.start()], sentence[found.end() :]
            return _SPACES.sub(" ", f"{before}{said if before else said[:1].upper() + said[1:]}{after}")
        # A name may begin later: `Turns out Ines Toll replaced …`.
        at = found.start() + 1
    return sentence


def _said(to: str, parts: Mapping[str, str], first: Collection[str]) -> str:
    """The plain statement; what was `first` in its sentence and is no more is written as behind others."""
    said = ""
    for n, part in enumerate(_GROUP.split(to)):
        text = part if n % 2 == 0 else parts.get(part, "")
        is_small = n % 2 == 1 and part in first and said.strip() and _SMALL.match(text)
        said += text[:1].lower() + text[1:] if is_small else text
    return said


def _fits(name: str, part: str) -> bool:
    """Whether a part is what its name asks for: a `name…` is one, a `value…` is a code or a number."""
    if name.startswith("name"):
        words = tidy(part).casefold().split()
        return _NAMED.fullmatch(part) is not None and bool(words) and words[0] not in _NO_NAME
    if name.startswith("value"):
        return is_value(part, has_capitals=False)
    return True
