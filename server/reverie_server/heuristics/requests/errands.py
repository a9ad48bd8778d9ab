# ruff: noqa: E501  # a pattern stands on one line
"""What is to be done once ("don't forget to buy milk", "erinner mich um 5 anzurufen"): it is for the day. Pure.

What always holds ("remember to always answer in English") is none, nor what names a value ("don't forget my PIN 1234").
"""

from __future__ import annotations

import re

_LASTING = re.compile(
    r"(?<!\w)(?:always|never|every|each|whenever|when i|if i|from now on|in future|in the future|daily|weekly"
    r"|immer|nie|niemals|jede[nrsm]?|jedes mal|täglich|ab jetzt|künftig|in zukunft|wenn ich|falls ich"
    r"|siempre|nunca|jamás|cada|tod[oa]s l[oa]s|a partir de ahora|de ahora en adelante|cuando (?:yo|te|me))(?!\w)"
    r"|以后|每|总|永远|一直|从今"
)
_WHEN = (
    r"(?:,? (?:please|pls|later|again|then|tomorrow|tonight|today|this \w+|next \w+|on \w+day|at \S{1,8}(?: (?:am|pm))?|in \w{1,8} \w+|bitte|mal|morgen|heute|später|nachher|gleich|um \S{1,6}(?: uhr)?|am \w+"
    r"|por favor|porfa|luego|después|mañana|hoy|esta \w+|el \w+|a las? \S{1,6})){0,3}"
)
_ENGLISH = re.compile(
    r"(?:(?:please|pls|also|and|oh|hey|ok|so|can you|could you|will you|would you|i need you to),? ){0,3}"
    rf"(?:(?:remind me|(?:don't|dont|do not) let me forget){_WHEN},? (?:to (?!(?:me|you)(?!\w))\w|about (?:the|a) \w+$)"
    rf"|(?:(?:don't|dont|do not) forget|remember|make sure (?:you )?remember){_WHEN} to (?:buy|pick up|get(?! (?:me|my|it|used))|call(?! (?:me|him|her|them|it)(?!\w))|ring|phone|text(?! me)|e-?mail(?! me)|pay|book|renew|cancel|return|fetch|collect|water|feed|wash|clean|print|post|order|drop off|take out|bring(?! up)|walk the|charge|turn off|switch off|lock)(?!\w)"
    r"|(?:don't|dont|do not) forget the (?!\w+s? (?:is|are|was|has)(?!\w))[^\W\d]{2,20}(?: and (?:the )?[^\W\d]{2,20})?[ .!]*$)"
)
_GERMAN_VERB = r"(?:kaufen|holen|zahlen|bezahlen|schicken|buchen|gießen|giessen|füttern|waschen|putzen|tanken|bringen|verlängern|kündigen|drucken|besorgen|reservieren|bestellen|\w*zu(?:rufen|kaufen|holen|bringen|geben|schicken|schalten|räumen|zahlen))"
_GERMAN = re.compile(
    r"(?:(?:bitte|und|ach|hey|ok|also|kannst du|könntest du),? ){0,3}"
    rf"(?:(?:vergiss (?:bitte |ja |mir )?nicht|denke? (?:bitte |mal )?(?:dran|daran))[ ,][^.;:!?]{{0,80}}?(?<!\w)(?:zu )?{_GERMAN_VERB}[ .!]*$"
    r"|erinnere? mich[ ,](?:[^.;:!?]{0,80}? )?(?:zu \w+en|\w+zu\w+en)[ .!]*$"
    r"|erinnere? mich(?: bitte| mal| (?:um|gegen) \S{1,6}(?: uhr)?| morgen| heute| später){1,3} an [^\d:]{2,40}$"
    r"|vergiss (?:bitte |ja |mir )?nicht (?:die|das|den) [^\W\d]{2,24}(?: und (?:die |das |den )?[^\W\d]{2,24})?[ .!]*$)"
)
_SPANISH_VERB = r"(?:comprar|llamar|recoger|pagar|mandar|enviar|devolver|sacar|llevar|traer|ir a|pasar (?:a|por)|buscar|regar|lavar|limpiar|reservar|renovar|cancelar|imprimir|pedir|poner la|tender|dar de comer)"
_SPANISH = re.compile(
    r"(?:(?:por favor|porfa|oye|y|ah|ay),? ){0,3}"
    rf"(?:(?:recu[eé]rda|record[aá])me{_WHEN} (?:que (?:tengo|hay) que )?\w{{2,15}}[aeií]r(?!\w)"
    rf"|(?:(?:que )?no (?:te |se te |se me |me dejes )?olvid(?:es|e|ar)(?: de)?|(?:acu[eé]rda|acord[aá])te de|recu[eé]rda|record[aá]|tengo que acordarme de){_WHEN} (?:que (?:tengo|hay) que )?{_SPANISH_VERB}(?!\w))"
)
_CHINESE = re.compile(
    r"(?:请|麻烦|你|帮我|到时候?|那|哦|对了[，,]?)*(?:(?:记得|别忘了?|不要忘了?|到时候?)?(?:再)?提醒我(?!.{0,12}(?:密码|是\d))"
    r"|(?:记得|别忘了?|不要忘了?)(?:今天|明天|后天|今晚|晚上|早上|下午|周.|帮我|给我|去|要)*(?:买|打电话|给.{1,6}打电话|交|取|寄|还书|还钱|付|订|带|拿|倒垃圾|浇))"
)
_VALUE = re.compile(r"[:：]|\d{4}")


def is_errand(plain: str) -> bool:
    """Whether a sentence, from `aligned`, asks not to let a thing be forgotten that is to be done once. Takes time
    linear in it."""
    text = plain.strip(" \t\r\n¡¿")
    if not any(pattern.match(text) for pattern in (_ENGLISH, _GERMAN, _SPANISH, _CHINESE)):
        return False
    return _LASTING.search(text) is None and _VALUE.search(text) is None
