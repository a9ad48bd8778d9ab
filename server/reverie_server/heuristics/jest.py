"""What is said with a laugh. Pure."""

from __future__ import annotations

import re

_LAUGH = re.compile(
    r"(?<!\w)(?:lo+l|lmf?ao|rofl|(?:ha){2,}h?|(?:he){2,}h?|(?:ja){2,}j?|(?:je){2,}j?)(?!\w)|[哈呵嘿]{2,}|[😂🤣😜]"
)
# At the end of a folded text it takes back what stands before it; "no joking" says the contrary.
_JOKE = re.compile(
    r"(?<!not )(?<!no )(?<!n't )(?<!n’t )(?<!\w)(?:(?:joking|kidding|jk|j/k)"
    r"|at heart|(?:nur |bloss |kleiner |war |haha |lol |, )(?:ein )?(?:spass|scherz)|(?:es|era) broma|en broma"
    r"|de corazón|im herzen)(?:[ ,.!)]|lo+l|(?:ha){2,}h?|(?:ja){2,}|[😂🤣😜]){0,12}+$"
    r"|(?<!不是)(?<!没)(?<!没有)(?:开个?玩笑|開個?玩笑)(?:的|啦|而已|[哈。！!，, ]){0,12}+$"
)
_MAX_END_CHARS = 80


def is_in_jest(text: str) -> bool:
    """Whether a text is said with a laugh or in jest: it may hold, and is no word on what held before."""
    return _LAUGH.search(text.casefold()) is not None or is_joke(text)


def is_joke(text: str) -> bool:
    """Whether a sentence takes itself back as a joke, or says what somebody is at heart alone."""
    return _JOKE.search(text.casefold().strip()[-_MAX_END_CHARS:]) is not None
