# ruff: noqa: E501  # a pattern stands on one line
"""The words by which people ask to remember something, and what they ask to remember. Pure but for its data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from reverie_server.heuristics.requests.answer_style import is_of_style
from reverie_server.heuristics.requests.errands import is_errand
from reverie_server.heuristics.requests.lasting_instructions import instruction_end
from reverie_server.heuristics.requests.memory_requests import (
    any_sign,
    asks_for_value,
    asks_no_more,
    clauses,
    has_number,
    remembered_after_comma,
    remembered_after_that,
    remembered_from,
)
from reverie_server.heuristics.requests.not_to_be_kept import asks_not_to_keep
from reverie_server.heuristics.requests.recollections import only_recalls
from reverie_server.heuristics.requests.request_patterns import SAYS_SOMETHING, patterns
from reverie_server.heuristics.requests.request_reasons import (
    end_before_request,
    has_reason_alone,
    statement_behind_reason,
)
from reverie_server.heuristics.requests.said_before import what_was_said
from reverie_server.heuristics.requests.several import several_in
from reverie_server.heuristics.requests.updates import Update, update_asked
from reverie_server.heuristics.simplified import simplified
from reverie_server.heuristics.small_talk import says_nothing
from reverie_server.text.questions import is_question

# One kind of apostrophe and of space, and what the north of China says for `I`.
_ALIGNED = str.maketrans(
    {"俺": "我", "咱": "我", "’": "'", "‘": "'", "ʼ": "'", "＇": "'", "İ": "i", "\u00a0": " ", "\u3000": " "}
)
# Longer sentences are no requests.
_MAX_ALONE_CHARS = 120
_MAX_TAIL_CHARS = 80
# What is left of a request must say something.
_MIN_CHARS, _MIN_UNSPACED_CHARS = 6, 3
_UNSPACED = re.compile("[\u3041-\u30fa\u3400-\u4dbf\u4e00-\u9fff]")
# `Remember to call` and `remember when we met` are whole as they are.
_NOT_CUT = re.compile(
    r"(?:to|me|when|how|what|who|why|where|if|(?:the |that )?(?:time|day|thing)s?|zu|wie|wann|wo|cuando|cómo)(?!\w)"
)
_CAN = re.compile(r"你?(?:能|可以)(?:帮我|替我)?(?:记住|记一下|记下)")
# What leads to a request and says nothing itself.
_LEADS_TO = re.compile(
    r"(?:(?:while i(?:'m| am)? (?:at it|think(?:ing)? (?:of|about) it|remember)|by the way|one more thing|noch was"
    r"|übrigens|wenn ich schon dabei bin|wo ich gerade dran denke|por cierto|ya que estamos|ahora que me acuerdo"
    r"|otra cosa|对了|說正事|说正事|順便|顺便)(?: ?[,:，：–—-]\s*|(?<=[\u4e00-\u9fff])))+"
)
# Behind a request for what was said before: courtesy, and what would be a statement of its own.
_COURTESY = re.compile(
    r"(?:(?:please|will you|would you|can you|could you|thanks(?: a lot)?|ok|okay|yeah|bitte|ja|danke|gell|ne|por favor"
    r"|vale|anda|ya|gracias|porfa|好吗|吧|啊|哦|谢谢)[ ,!?.]*)+$"
)
# "I'm allergic to nuts remember that", but not "my whole family remember it".
_BARE = re.compile(r"\s(?:please |pls )?(?:remember|keep|make|note|save|don't|dont|do not)(?!\w)")
# "Hang on to that name, I called her Petticoat."
_BESIDE = re.compile(r"(?:i|she|he|they|it|it's|because|or|so|(?:just )?in case|otherwise)(?!\w)")
_STATES = re.compile(
    r"\d|(?<!\w)(?:my|our|mein\w*|unser\w*|mis?|nuestr\w+|i'm|i am|we|wir|vivo|soy|tengo)(?!\w)|我(?:住|的|是|在)|:|："
)
_OF_NUMBERS = re.compile(
    r"(?<!\w)(?:numbers?|codes?|figures?|combinations?|nummern?|zahl\w*|kombination\w*|pins?|both|two|beid\w*|zwei|dos|amb[oa]s"
    r"|n[uú]meros?|c[oó]digos?|combinaci\w*|tel[eé]fonos?|cifras?)(?!\w)|号|数字|电话|两|俩"
)
_COLON, _DIGIT = re.compile("[:：]"), re.compile(r"\d")
# What a request that opens a message asks to remember: what follows, or what was said before.
_AHEAD = re.compile(
    r"(?<!\w)(?:this|these|something|(?:one|another) thing|dies(?:es)?|etwas|was|folgendes|eine sache|esto|algo"
    r"|un[ao]? (?:cosa|dato))(?!\w)|这|件事|个事|个数|一下"
)
# It is about what follows wherever it stands in a message.
_ANNOUNCES = re.compile(
    r"(?<!\w)(?:something|(?:one|another) (?:more )?thing|etwas|eine sache|algo|un[ao]? (?:cosa|dato))(?!\w)"
    r"|^有一?[件个]"
)
_BACK = re.compile(
    r"(?<!\w)(?:that|it|das|es|den|die|eso|l[oa]s?|all)(?!\w)|l[oa]s?(?=\W*$)|那|它|刚|[收记存留]好(?=[，, ]*$)"
)
# What stands behind a request, and says no more than what it points to, and why: "keep hold of that, I measured it
# while she slept", "merk dir das ma bitte, sonst steh ich wieder da".
_SAYS_WHY = re.compile(
    r"\W*(?:those(?: (?:for me|please|pls|abeg|then|too))*+(?:\W*$|, [^\d:]*$)"
    # "Das, was ich gerade geschrieben hab, solltest du dir merken."
    r"|(?:(?:das|alles|all|everything),? )?(?:was|what) (?:ich|i)(?: \w+){0,3} (?:gesagt|geschrieben|erzählt|said|told you|wrote)(?: habe?)?\W*$"
    r"|(?:todo )?lo que (?:\w+ ){1,3}(?:dije|conté|decir(?:te)?|contar(?:te)?|dicho|contado)\W*$"
    r"|(?:das|es|dat|dit|that|this|it|eso|esto)"
    r"(?: (?:ma|mal|bitte|ja|doch|bloß|halt|gut|please|then|pls|porfa|por favor))*+"
    r"(?:\W*$|,? (?:sonst|weil|falls|damit|denn|nicht dass|because|cause|cos|otherwise|in case|porque|que|si no"
    r"|por si)(?!\w))|, (?:i|ich|yo)(?:'\w{1,2})? [^,;]{0,60}?(?<!\w)(?:it|them|es|lo|eso)(?!\w))"
)
# What a request ends with out of courtesy, and no name: "记住我电话是13800001111哦".
_HAN_COURTESY = re.compile(r"(?<!叫)(?<!叫.)(?<!叫..)(?:[哦喔啊呀啦]|谢谢你?|拜托你?了?)+$")
# "Keep that, for I have a meeting"; with a number it may tell what is to be kept: "Apúntalo, que el código es 4471".
_GIVES_REASON = re.compile(r"(?:que|porque|pues|because|cos|cause|since|weil|denn|sonst)(?!\w)|因为|不然")
# So many sentences of a greeting, and so many characters of a request, stand before what it means.
_MOST_OF_GREETING, _MOST_OF_LEAD = 2, 60
# Behind "remember that, …" a habit of the one who asks says why, that it will be asked for, and a condition.
_HABIT = re.compile(
    r"(?=.*?(?<!\w)(?:ich|i|i'm|mir|me|yo|soy|ando|vivo)(?!\w)).*?(?<!\w)(?:immer|ständig|dauernd|always|forever|siempre|nunca)(?!\w)"
    r"|(?=.*?我).*?[总老每]|.*?我[^，。]{0,4}问你"
    r"|.*?(?<!\w)(?:i(?:'ll| will|'m going to| might|'m gonna) (?:be asking|ask) (?:you|again|for it)(?!\w)"
    r"|ich (?:frag|werde?|will) (?:dich|ihnen|sie|danach|wieder)(?!\w)|te l[oa]s? (?:voy a|volveré a|vuelvo a) (?:ped|pregunt)\w+)"
)
_POINTER = re.compile(
    r"(?:das|dies|es|that|this|eso|esto)(?: (?:bitte|gut|mal|auch|schon|please|down|bien|por favor))*+, ++"
)
_CONDITION = re.compile(r"(?:wenn|falls|sofern|if|si)(?!\w)[^,;:]*$|(?:如果|要是)[^，；：]*$")
_DASS = re.compile(r"da(?:ss?|ß)(?:\s|$)", re.IGNORECASE)


Place = Literal["first", "inner", "last"]
"""Where a sentence stands in a message; one that is alone is its last."""


@dataclass(frozen=True, slots=True)
class Request:
    """What of a sentence asks to remember something, and the rest.

    `start` and `end` are where the rest is in the sentence. `kind`: `none`; `inside` where the sentence has the thing
    itself; `before` where it is about what was said before; `next` where it is about what follows; `named` where the
    next sentence may say what the thing is that is named there; `update` where an answer tells whether the memory is
    meant ("Update it, please"). `is_of_value`: it is about a number or a code. `count`
    is how many things it means: several.ALL of a message, or so many. `may_be_why`: what it has itself may be no more
    than a reason.
    """

    kind: Literal["none", "inside", "before", "next", "named", "update"]
    start: int
    end: int
    is_subordinate: bool = False
    is_of_value: bool = False
    count: int = 1
    may_be_why: bool = False

    def where_said(self, *, is_here: bool) -> Request:
        """The request where a statement stands before it in its message (`is_here`), or none: "merk dir das gut, beim
        Kochen bin ich immer im Stress" says why behind a statement, and else what is to be remembered."""
        return replace(self, kind="before", start=self.end) if self.may_be_why and is_here else self


# "Que no se te olvide nunca, que luego pasa lo que pasa" says only why.
_ONLY_WHY = re.compile(
    r"(?:y )?que no se (?:te|le|me|nos) (?:l[oa]s? )?(?:olvid|pierd|pas|vay|borr)\w+"
    r"(?: (?:nunca|jamás|eso|esto|por favor))?, que (?!\D*\d)"
)
# Who notices something keeps nothing.
_NOTICES = re.compile(r"\W*(?:\w+,? )?merkst du (?:was|das|es|etwas)\W*")
_NOT_TO_KEEP = re.compile(r"not to (?:remember|memori[sz]e|note|record|save|store|keep|write)(?!\w)")


def aligned(text: str) -> str:
    """The text in lower case, with one kind of apostrophe, simplified characters and 我 for 俺, each where it was."""
    translated = simplified(text.translate(_ALIGNED))
    lower = translated.lower()
    return lower if len(lower) == len(text) else translated


def split_request(sentence: str) -> Request:
    """What of a sentence, in any of the languages, asks to remember something. Takes time linear in the sentence."""
    request = _of_several(sentence) or _split(sentence)
    if request.kind == "none":
        return request
    plain = aligned(sentence)
    if is_of_style(plain) or only_recalls(plain) or is_errand(plain) or _NOTICES.fullmatch(plain) is not None:
        return Request("none", 0, len(sentence))
    if request.kind == "inside" and what_was_said(plain) is not None:
        # "Remember what I told you about the dog" has nothing to be remembered itself.
        return Request("none", 0, len(sentence))
    # "Merk dir das bitte nicht", "remember not to keep that".
    if request.kind in ("before", "next", "named"):
        is_contrary = asks_not_to_keep(plain)
    else:
        is_contrary = request.kind == "inside" and _NOT_TO_KEEP.match(plain, request.start) is not None
    return Request("none", 0, len(sentence)) if is_contrary else request


def _of_several(sentence: str) -> Request | None:
    """A request for more than one thing that was said before it, or that it says before it asks."""
    several = several_in(aligned(sentence))
    if several is None:
        return None
    request = _split(several.text)
    if request.kind in ("before", "next"):
        return replace(request, start=len(sentence), end=len(sentence), count=several.count)
    if request.kind == "inside" and request.end <= several.start:
        return request
    if request.kind == "inside" and _COLON.search(several.text, several.start, request.start) is not None:
        # "Remember these two things: my locker is 88. My PIN is 9921."
        start, end = request.start - several.longer, request.end - several.longer
        return replace(request, start=start, end=end, count=several.count)
    return None


def _split(sentence: str) -> Request:
    text = aligned(sentence)
    known = patterns()
    start, end = _bounds(text)
    if (leads := _LEADS_TO.match(text, start)) is not None:
        start = leads.end()
    if (request := _of_another_sentence(text, start, end)) is not None:
        return request
    may_ask = any_sign().search(text) is not None
    behind = statement_behind_reason(text, start, end) if may_ask else 0
    if may_ask and not behind:
        if has_reason_alone(text, start, end) or asks_no_more(text, start, end):
            return Request("before", end, end)
        # "Notier dir das bitte gleich: …" names nothing.
        named = None if remembered_from(text) else _named(text, start)
        if named is not None:
            is_pointing = _SAYS_WHY.match(text, named.start, named.end) is not None
            return Request("before", end, end) if is_pointing else named
    whole = first, last = start, len(text.rstrip())
    # "你记得我妹妹吗" asks what is known, and "你能记住我的柜子是88号吗" asks to remember it.
    is_known = text[:end].endswith(("吗", "嗎")) and _CAN.match(text, start, end) is None
    lead = None if is_known else known.lead.match(text, start, end)
    if lead is not None and not _NOT_CUT.match(text, lead.end()):
        pointer = _POINTER.match(text, lead.end(), end)
        first = max(lead.end() if pointer is None else pointer.end(), remembered_from(text))
    elif lead is None and may_ask:
        first = behind or remembered_from(text) or remembered_after_that(text, start, end)
        if not first:
            first = remembered_after_comma(text, start, end)
            # "I keep losing it, so remember, because I need it" says why.
            if first and _says_why(text, first, end):
                return Request("before", end, end)
        first = first or start
    tail_from = max(first, end - _MAX_TAIL_CHARS)
    tail = known.tail.search(text, tail_from, end)
    if tail is not None and _BARE.match(tail[0]) is not None and not SAYS_SOMETHING.search(text, first, tail.start()):
        tail = None
    if tail is not None or may_ask:
        last = tail.start() if tail is not None else end_before_request(text, first, last)
    if (first, last) == whole:
        # A task to remember is a request as it stands; "remember that time in Rome?" asks what is known.
        is_told = lead is not None and not is_question(text)
        is_asked = is_told or (may_ask and asks_for_value(text, start, end))
        if not is_asked and (until := instruction_end(text, start)):
            return Request("inside", start, until)
        return Request("inside" if is_asked else "none", 0, len(sentence))
    if _SAYS_WHY.match(text, first, last) is not None or _ONLY_WHY.match(text, start, last) is not None:
        return Request("before", end, end)
    if (courtesy := _HAN_COURTESY.search(text, max(first, end - _MAX_TAIL_CHARS), min(last, end))) is not None:
        last = courtesy.start()
    first += len(text[first:last]) - len(text[first:last].lstrip(" ,;，；"))
    rest = text[first:last].strip(" \t.,;:!-–—")
    if len(rest) < (_MIN_UNSPACED_CHARS if _UNSPACED.search(rest) else _MIN_CHARS) or says_nothing(rest):
        return Request("before", end, end)
    is_subordinate = _DASS.search(text, max(start, first - 6), first) is not None
    may_be_why = _DIGIT.search(text, first, last) is None and _HABIT.match(text, first, last) is not None
    may_be_why = may_be_why and _BACK.search(text, max(start, first - _MOST_OF_LEAD), first) is not None
    return Request("inside", first, last, is_subordinate, may_be_why=may_be_why)


def _says_why(text: str, first: int, end: int) -> bool:
    """Whether what stands behind a request is a reason or a condition, and no number."""
    is_why = _GIVES_REASON.match(text, first) is not None or _CONDITION.match(text, first, end) is not None
    return is_why and not has_number(text, first, end)


def _of_another_sentence(text: str, start: int, end: int) -> Request | None:
    """A request that says nothing itself of what it means, or to put that in the place of what is kept; else None."""
    if end - start <= _MAX_ALONE_CHARS and (kind := _of_that_thing(text, start, end)) is not None:
        return Request("before", end, end, is_of_value=kind == "value")
    if end - start <= _MAX_ALONE_CHARS and patterns().alone.fullmatch(text, start, end):
        is_next = text[end:].lstrip().startswith((":", "："))
        return Request("next" if is_next else "before", end, end)
    update = update_asked(text, start, end)
    return None if update is None else _of_update(text, start, end, update)


def _of_update(text: str, start: int, end: int, update: Update) -> Request | None:
    """A request to put something in the place of what is kept: what stands before it, or behind "yours is no more".

    None where a text may be meant that is spoken of in the sentence.
    """
    if (update.start, update.end) == (start, end):
        return Request("before" if update.is_of_memory else "update", end, end)
    if not update.is_of_memory:
        return None
    parts = [(update.end, end), (start, update.start)]
    first, last = next((part for part in parts if has_number(text, *part)), parts[1])
    first += len(text[first:last]) - len(text[first:last].lstrip(" ,;，；"))
    last -= len(text[first:last]) - len(text[first:last].rstrip(" ,;，；"))
    return Request("inside", first, last) if first < last else None


def is_of_next(sentence: str, place: Place) -> bool:
    """Whether a request at a place of a message is about what follows: `Can you save something for me?` opens one, and
    `I need you to keep one thing for me` may stand between others."""
    plain = aligned(sentence)
    if place == "inner":
        # Of the clause that asks: "remember that in case something happens" points back, and "it's important" says why.
        reason = patterns().because.search(plain)
        parts = clauses(plain[: reason.start() if reason is not None else len(plain)])
        asking = plain[slice(*parts[0])] if parts else ""
        return _ANNOUNCES.search(asking) is not None and _BACK.search(asking) is None
    is_ahead = _AHEAD.search(plain) is not None or (is_question(plain) and _BACK.search(plain) is None)
    return place == "first" and is_ahead


def place_of(number: int, said: Sequence[str]) -> Place:
    """The place of a sentence by its number from 0; behind "Good." it is still the first."""
    if number == len(said) - 1:
        return "last"
    is_first = number <= _MOST_OF_GREETING and all(says_nothing(each) for each in said[:number])
    return "first" if is_first else "inner"


def with_named(sentence: str, thing: str) -> str | None:
    """What a sentence says that a thing is, with its name ("It is 4471" becomes "The code is 4471"); None where it says
    no such thing."""
    text = aligned(sentence).strip()
    for pattern, copula in patterns().it_is:
        found = pattern.match(text)
        if found is not None:
            # "60-2218 is it": what it is may come first.
            group = "before" if found.groupdict().get("before") else "value"
            value = sentence.strip()[slice(*found.span(group))]
            return f"{thing[:1].upper()}{thing[1:]}{copula}{value}"
    return None


def _of_that_thing(text: str, start: int, end: int) -> Literal["value", "thing"] | None:
    """Whether a sentence asks to keep a thing of a general name that was said before, and of a number; it may say why,
    and states nothing: "Remember that one, I'm allergic to nuts" has what is to be remembered."""
    known = patterns()
    found = known.that_thing.match(text, start, end)
    if found is None:
        return None
    rest = text[found.end() : end].strip(" ,;:，。.!?？！")
    why = rest == "" or any(each.match(rest) is not None for each in (_COURTESY, known.reason, _BESIDE))
    if not why or _STATES.search(rest) is not None:
        return None
    return "value" if _OF_NUMBERS.search(found[0]) is not None else "thing"


def _named(text: str, start: int) -> Request | None:
    """A request to remember a thing by its name, with what it is or without."""
    if len(text) - start > _MAX_ALONE_CHARS:
        return None
    for pattern in patterns().named:
        found = pattern.match(text, start)
        if found is not None:
            has_value = found.groupdict().get("value") is not None
            last = found.end("value") if has_value else found.end("thing")
            is_told = has_value or has_number(text, found.start("thing"), last)
            return Request("inside" if is_told else "named", found.start("thing"), last)
    return None


def _bounds(text: str) -> tuple[int, int]:
    """Where the words of a sentence begin and end, without marks and spaces around them."""
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum() and text[end - 1] not in ")）":
        end -= 1
    return start, end
