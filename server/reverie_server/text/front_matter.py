"""The tags that a file names in its front matter, and tags as people write them. Pure.

---
tags: [travel, "Project Heron"]
---
"""

from __future__ import annotations

import re

FRONT_MATTER_MARK = "---"
# So much of a file is looked at for its front matter.
MAX_FRONT_MATTER_CHARS = 4000
MAX_TAG_CHARS = 64
_TAGS = re.compile(r"tags?[ \t]*:(?P<rest>.*)", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<tag>.*)")


def normal_tag(tag: str) -> str:
    """A tag without its `#`, in lower case; "" for what is none: empty or over MAX_TAG_CHARS characters."""
    plain = tag.strip().strip("\"'").strip().removeprefix("#").strip().lower()
    return plain if len(plain) <= MAX_TAG_CHARS else ""


def front_matter_tags(content: str) -> frozenset[str]:
    """The tags that a file's front matter names, as a list in brackets, between commas, or one a line."""
    lines = content[:MAX_FRONT_MATTER_CHARS].splitlines()
    if not lines or lines[0].rstrip() != FRONT_MATTER_MARK:
        return frozenset()
    found: set[str] = set()
    is_listing = False
    for line in lines[1:]:
        if line.rstrip() == FRONT_MATTER_MARK:
            return frozenset(found - {""})
        named, item = _TAGS.match(line), _ITEM.match(line) if is_listing else None
        if named is not None:
            found.update(normal_tag(tag) for tag in named["rest"].strip().strip("[]").split(","))
            is_listing = True
        elif item is not None:
            found.add(normal_tag(item["tag"]))
        else:
            is_listing = False
    # Without its end it is no front matter.
    return frozenset()
