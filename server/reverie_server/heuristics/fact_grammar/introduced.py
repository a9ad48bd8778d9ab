"""Who says in a few words who they are, "Ralf 52 Lokführer aus Kassel", and is called so by the answer. Pure."""

from __future__ import annotations

import re
import unicodedata

from reverie_server.heuristics.fact_grammar.people import TITLES

_MAX_CHARS, _ANSWER_CHARS = 160, 80
_SHAPE = re.compile(
    r"(?P<name>[^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?)(?: (?:here|hier|aquí))?,? (?P<age>[1-9]\d)"
    r"(?: (?:years old|[jJ]ahre(?: alt)?|años)(?!\w))?(?P<rest>(?:,|(?= [^\W\d_]))[^\n]*|\W*)"
)
# What opens an introduction: "Darf ich mich vorstellen: …".
_LEAD = re.compile(
    r"(?:(?:gestatten sie|erlauben sie|darf ich)[^:]{0,40}vorstelle?n?"
    r"|(?:ich stelle mich|ich möchte mich)[^:]{0,20} vor(?:stellen)?|(?:kurz )?zu (?:meiner person|mir)"
    r"|(?:let me|allow me to|may i) introduce myself|(?:a bit |a little )?about me"
    r"|(?:permítame presentarme|me presento)(?: como corresponde)?): ?",
    re.IGNORECASE,
)
_SAYS = {
    "english": "I'm {name}, {age} years old{rest}",
    "german": "Ich bin {name}, {age}{rest}",
    "spanish": "Me llamo {name}, tengo {age} años{rest}",
}


def introduced(sentence: str, answer: str, language: str) -> str | None:
    """A sentence of a name, an age and perhaps a trade as one that says so; None where it is none, or the answer to it
    calls nobody by that name. Takes time linear in both."""
    said = _LEAD.sub("", sentence.strip(), count=1).rstrip(".! ") if len(sentence) <= _MAX_CHARS else ""
    found = _SHAPE.fullmatch(said)
    if found is None or language not in _SAYS:
        return None
    name = found["name"] if found["name"].istitle() else found["name"].title()
    first, last = re.escape(name.split()[0]), re.escape(name.split()[-1])
    # Who types without capitals is called with them.
    called = rf"(?<!\w)(?:{first}|(?i:{TITLES})\.? {last})(?=[!,.:]| –|$)"
    if re.search(called, unicodedata.normalize("NFC", answer[:_ANSWER_CHARS])) is None:
        return None
    rest = found["rest"].strip(" ,.!")
    return _SAYS[language].format(name=name, age=found["age"], rest=f", {rest}" if rest else "") + "."
