"""What a short remark denies of something said before: "doch nicht Rom, Wien", "not Rome but Vienna". Pure.

It says nothing by itself, so no fact is read of it, while what was said of Rome no longer holds.
"""

from __future__ import annotations

import re

from reverie_server.heuristics.cues import folded

# A longer sentence says for itself what holds.
_MAX_CHARS = 100
_THING = r"[^\s,;.!?]{2,30}(?: [^\s,;.!?]{2,30}){0,2}?"
_BEFORE = (
    r"(?:(?:to|in|on|at|for|with|the|a|an|nach|in|im|am|um|mit|für|bei|zu|zum|zur|den|die|das|der|dem|ein|eine|einen"
    r"|a|al|en|el|la|los|las|con|para|un|una) ){0,2}"
)
_REMARK = re.compile(
    r"(?:(?:no|nope|nein|nö|nee|actually|sorry|oh|wait|well|ok|okay|and|but|eigentlich|doch|ach|also|und|aber|dann"
    r"|jetzt|perdón|mejor|bueno|pues|al final|y|pero)\b[,.! ]*){0,4}"
    rf"(?:not|nicht|nich|no) {_BEFORE}(?P<old>{_THING})"
    rf"(?: ?[,;–—-] ?| )(?:(?:but|sondern|sino|lieber|rather|mejor) )?{_BEFORE}(?P<new>{_THING})"
    r"(?: (?:instead|lieber|stattdessen|mejor|lol|haha+))?[ .!]*"
)
_CONTRAST = re.compile(r"[,;–—-]| (?:but|sondern|sino) ")
_UNSPACED = re.compile(
    r"(?:不对|不|哦|啊|其实|對|，|,|。|！|!)*?不(?:是|去|要|选|選|用|在)(?P<old>[^，。,！!不]{1,12})[，, ]"
    r"(?:而是|是|去|要|改|选|選|用|在|改成|改去)(?P<new>[^，。,！!]{1,12})[。！!]*"
)


def denied(sentence: str) -> str | None:
    """The words, folded, that a remark puts others in place of; None for any other sentence."""
    text = folded(sentence.strip())
    if len(text) > _MAX_CHARS:
        return None
    found = _UNSPACED.fullmatch(text) or (_REMARK.fullmatch(text) if _CONTRAST.search(text) else None)
    return found["old"] if found else None
