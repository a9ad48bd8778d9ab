"""What the patterns of every language are made of. Pure."""

from __future__ import annotations

TOPIC = r"(?P<topic>[^,;:.!?，。！？；：]{2,80}?)"
# Two words or more: a statement has to have all of them.
TOPIC_OF_WORDS = (
    r"(?P<topic>[^,;:.!?，。！？；：\s]{2,40} (?:[^,;:.!?，。！？；：\s]{1,40} ){0,10}?[^,;:.!?，。！？；：\s]{2,40}?)"
)
# "My salary: forget it please" names a matter; "my PIN is 4471: …" tells it.
LABEL = (
    r"(?P<topic>[^\W\d_]{2,30}(?: (?!(?:is|are|was|has|ist|sind|war|hat|es|son|está|tiene)(?!\w))[^\W\d_]{2,30}){0,3})"
    r" ?[:–—-] ?"
)
PAUSE = r"(?:[,;:–—-]| -) ?"
