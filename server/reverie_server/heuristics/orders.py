"""Pure. Whether a text is an order to the agent about its tools, secrets or instructions: such a text is never memory.

A wish (short answers, a name to be called by, a language) is no order. A text that only mentions a tool or a secret is
none either: `Luis owns the rotation of the API key`. Takes time linear in the text.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reverie_indexer.text.analyse import CJK
from reverie_server.text.controls import without_controls
from reverie_server.text.fences import fold_marks

# The agents' tools, as `reverie_server.tools.catalogue` has them; a test holds the two together.
TOOLS = (
    "memory_search",
    "memory_get",
    "memory_expand",
    "knowledge_graph_search",
    "save_memory",
    "update_memory",
    "forget_memory",
    "list_workspace_memory_files",
    "read_workspace_memory_file",
    "write_workspace_memory_file",
    "edit_workspace_memory_file",
    "search_workspace_memory",
)
_CJK = re.compile(f"[{CJK}]")
# A run of marks matches as a whole and only from its first mark, else the time would be quadratic.
_SENTENCE_END = re.compile(r"(?<![.!?;])[.!?;]++(?=\s|$|[^\x00-\x7f])|[\n。！？；]")
_SPACE = re.compile(r"\s+")
# An address. _COMMAND: a command that no shell should run.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.\-]{1,9}+://|(?<![\w.+\-])[\w.+\-]{1,64}+@[a-z0-9\-]{1,63}\.[a-z]|(?<!\w)www\.")
_COMMAND = re.compile(
    r"(?<![\w\-])(?:curl|wget|nc|scp|ssh|sudo|eval|base64)\s|(?<![\w\-])rm\s+-|\|\s*(?:ba|z)?sh\b|\|\s*python"
    r"|(?<!\w)id_rsa\b|\.ssh/"
)
# A flag inside of backquotes is no command.
_CODE = re.compile(r"`[^`\n]{1,200}`")
_FLAG = re.compile(r"(?<!\w)--[a-z]")
# The beginning of a sentence before its verb: a bullet, a number, a speaker, a word such as `please`.
_LEAD = re.compile(
    r"[\s\-*+•>\"'“„«(\[]*(?:\d{1,3}[.)]\s*)?(?:[a-z ]{1,24}:\s+)?(?:please|bitte|por favor|then|und|and)?\s*"
)
# `The data must be sent` names nobody, so the duty is the agent's.
_PASSIVE = re.compile(r"(?<!\w)(?:posted|sent|uploaded|forwarded|revealed|called|executed|deleted|shared|b?cc'd)(?!\w)")
# A prohibition is no order to do the forbidden thing: its verb is removed.
_FORBIDDEN = re.compile(r"(?<!\w)(never|do not|don't|must not|niemals|nie|nunca)\s+(?!forget|vergiss|fail)\w+")
_BETWEEN_WORDS = 3


@dataclass(frozen=True, slots=True)
class _Words:
    must: re.Pattern[str]
    duties: re.Pattern[str]
    agent: re.Pattern[str]
    verbs: re.Pattern[str]
    secrets: re.Pattern[str]
    outputs: re.Pattern[str]
    senders: re.Pattern[str]
    overrides: re.Pattern[str]
    phrases: re.Pattern[str]
    tools: re.Pattern[str]


def why_order(text: str, *, is_duty: bool = False) -> str | None:
    """Why a text is an order to the agent, or None where it is none.

    With `is_duty` each sentence says what the agent does, as those of SOUL.md do.
    """
    folded = _folded(text)
    words = _words()
    if words.phrases.search(folded):
        return "it tells the agent what to be"
    for sentence in _SENTENCE_END.split(folded):
        if reason := _order_in(sentence, words, is_duty=is_duty):
            return reason
    return None


def _order_in(sentence: str, words: _Words, *, is_duty: bool) -> str | None:
    if words.overrides.search(sentence):
        return "it tells the agent to change its instructions"
    lead = _LEAD.match(sentence)
    start = lead.end() if lead else 0
    begins = words.verbs.match(sentence, start)
    has_duty = words.duties.search(sentence) is not None
    is_obliged = is_duty or words.must.search(sentence) is not None
    if words.tools.search(sentence) and (begins or ((is_obliged or has_duty) and words.verbs.search(sentence))):
        return "it tells the agent to use a tool"
    if has_duty and not is_obliged:
        # `The app must show the data` says what the app must do, `the data must be sent` says it of nobody else.
        is_obliged = words.duties.match(sentence, start) is not None or words.agent.search(sentence) is not None
        is_obliged = is_obliged or _PASSIVE.search(sentence) is not None
    rest = _FORBIDDEN.sub(r"\1", sentence)
    if not begins and not (is_obliged and words.verbs.search(rest)):
        return None
    if words.secrets.search(sentence):
        return "it tells the agent what to do with secrets"
    if _COMMAND.search(sentence) or _FLAG.search(_CODE.sub(" ", sentence)):
        return "it tells the agent to run a command"
    if _ADDRESS.search(sentence) and (begins is None or not _is_use(begins[0])):
        return "it tells the agent to send something somewhere"
    if words.outputs.search(sentence) and words.senders.search(rest):
        return "it tells the agent to send something somewhere"
    return None


def _is_use(verb: str) -> bool:
    """Whether a verb at the beginning may be about an address without sending anything there: `use the docs at …`."""
    return verb in ("use", "usa", "nutze", "benutze", "open", "visit", "see")


def _folded(text: str) -> str:
    """The text in lower case without controls, accents and look-alikes of Latin letters, if it has Latin words."""
    plain = _plain(without_controls(text))
    return fold_marks(plain).replace("\u200b", "") if _is_mixed(plain) else plain


def _plain(text: str) -> str:
    """The text in lower case without accents."""
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    stripped = "".join(character for character in decomposed if not unicodedata.combining(character))
    return unicodedata.normalize("NFC", stripped).replace("’", "'")


def _is_mixed(text: str) -> bool:
    """Whether a word has letters of more than one alphabet, or of one that is there to look like another."""
    for word in text.split():
        kinds = {_alphabet(character) for character in word if character.isalpha()}
        if len(kinds - {"other"}) > 1 or "odd" in kinds:
            return True
    return False


def _alphabet(character: str) -> str:
    if character.isascii() or "\u00c0" <= character <= "\u024f":
        return "latin"
    if "\u0400" <= character <= "\u052f":
        return "cyrillic"
    if "\u0370" <= character <= "\u03ff":
        return "greek"
    return "odd" if "\u1d00" <= character <= "\u1dbf" or "\ua720" <= character <= "\ua7ff" else "other"


@cache
def _words() -> _Words:
    tables = tomllib.loads(Path(__file__).with_name("orders.toml").read_text(encoding="utf-8"))
    verbs = _any_of(tables["override_verbs"])
    objects = _any_of(tables["override_objects"])
    # Words and white space in turn, or a few characters of a script without spaces: one reading of each text.
    between = rf"(?:(?:\s{{1,8}}+\S{{1,40}}+){{0,{_BETWEEN_WORDS}}}?\s{{1,8}}+|[^\s\x00-\x7f]{{0,12}}?)"
    tools = "|".join(r"[\s_\-]{0,2}".join(name.split("_")) for name in TOOLS)
    return _Words(
        must=re.compile(_any_of(tables["must"])),
        duties=re.compile(_any_of(tables["duties"])),
        agent=re.compile(_any_of(tables["agent"])),
        verbs=re.compile(_any_of(tables["verbs"])),
        secrets=re.compile(_any_of(tables["secrets"])),
        outputs=re.compile(_any_of(tables["outputs"])),
        senders=re.compile(_any_of(tables["senders"])),
        overrides=re.compile(rf"(?:{verbs}){between}(?:{objects})"),
        phrases=re.compile(_any_of(tables["phrases"])),
        tools=re.compile(rf"(?<![a-z0-9_])(?:{tools})(?![a-z0-9_])"),
    )


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of some words, the longest first."""
    return "(?:" + "|".join(_pattern(word) for word in sorted(set(words), key=len, reverse=True)) + ")"


def _pattern(word: str) -> str:
    word = _plain(word)
    if _CJK.match(word):
        return re.escape(word)
    plain = _SPACE.sub(" ", word.rstrip("*"))
    body = r"\s{1,4}".join(map(re.escape, plain.split(" ")))
    before = r"(?<!\w)" if plain[0].isalnum() else ""
    if word.endswith("*"):
        return rf"{before}{body}\w{{0,24}}"
    return rf"{before}{body}" + (r"(?!\w)" if plain[-1].isalnum() else "")
