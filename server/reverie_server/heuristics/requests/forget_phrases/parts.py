"""What the patterns of every language are made of. Pure."""

from __future__ import annotations

TOPIC = r"(?P<topic>[^,;:.!?，。！？；：]{2,80}?)"
# Two words or more: a statement has to have all of them.
TOPIC_OF_WORDS = (
    r"(?P<topic>[^,;:.!?，。！？；：\s]{2,40} (?:[^,;:.!?，。！？；：\s]{1,40} ){0,10}?[^,;:.!?，。！？；：\s]{2,40}?)"
)
PAUSE = r"(?:[,;:–—-]| -) ?"
