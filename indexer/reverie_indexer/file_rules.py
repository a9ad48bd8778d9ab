"""The rules of workspace files: which paths there may be, what is searched, and how a new file starts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from reverie_indexer.errors import Forbidden, PayloadTooLarge, ValidationFailed
from reverie_indexer.model import Flags
from reverie_indexer.resources import read_resource

SEARCHABLE = (".md",)
STORED = (".json", ".txt", ".yaml")
MAX_PATH_BYTES = 512
SYSTEM_PREFIX = "_system/"
# A copy of MEMORY.md from before it was compacted, by its time in UTC. PostgreSQL reads the pattern too.
BACKUP = r"^MEMORY_backup_([0-9]{4}-[0-9]{2}-[0-9]{2}_[0-9]{2}-[0-9]{2}-[0-9]{2})\.md$"
AGENT_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
# <channel>:<id>; `user:42`, `api:ada`, `telegram:17`. `system` stands alone.
OWNER_KEY = re.compile(r"system|[a-z0-9_-]{1,32}:\S.{0,254}")

_SEEDS = {"AGENTS.md": 0, "SOUL.md": 1, "PROFILE.md": 2, "MEMORY.md": 3}
_OTHERS = Flags(enabled=False, sort_order=100)


def check_path(path: str, *, by_server: bool = False) -> str:
    """The path, if a file may have it; ValidationFailed or, for what the server alone writes, Forbidden."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise ValidationFailed("the path is not valid Unicode") from None
    if not path or size > MAX_PATH_BYTES:
        raise ValidationFailed(f"a path has 1 to {MAX_PATH_BYTES} bytes; this one has {size}")
    if path.startswith("/") or "\\" in path or re.match(r"[A-Za-z]:", path):
        raise ValidationFailed("a path is relative, with forward slashes")
    if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", path):
        raise ValidationFailed("a path has no control characters")
    if any(segment in ("", ".", "..") for segment in path.split("/")):
        raise ValidationFailed("a path has no empty, '.' or '..' segments")
    if not path.endswith(SEARCHABLE + STORED):
        raise ValidationFailed(f"a file ends in one of {', '.join(SEARCHABLE + STORED)}")
    if path.startswith(SYSTEM_PREFIX) and not by_server:
        raise Forbidden("_system/ is written by the server alone")
    if is_backup(path) and not by_server:
        raise Forbidden("backups of MEMORY.md are written by the server alone")
    return path


def check_agent_id(agent_id: str) -> str:
    """The id, if an agent may have it; ValidationFailed otherwise."""
    if not AGENT_ID.fullmatch(agent_id):
        raise ValidationFailed("an agent id has 1 to 128 of A-Z a-z 0-9 . _ : -")
    return agent_id


def check_owner_key(owner_key: str) -> str:
    """The key, if an owner may have it; ValidationFailed otherwise."""
    if not OWNER_KEY.fullmatch(owner_key) or not owner_key.isprintable():
        raise ValidationFailed(
            "an owner key is 'system' or '<channel>:<id>', such as user:42 or api:ada, without control characters"
        )
    return owner_key


def check_text(text: str, *, max_bytes: int) -> str:
    """The text, if a file may hold it: Unicode without NUL, at most `max_bytes` of UTF-8."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValidationFailed("the content has a lone surrogate, which is not valid Unicode") from None
    if size > max_bytes:
        raise PayloadTooLarge(f"a file holds at most {max_bytes} bytes; this one has {size}")
    if "\x00" in text:
        raise ValidationFailed("the content has a NUL character, which a text cannot hold")
    return text


def is_searchable(path: str) -> bool:
    """Whether a file is chunked and found by search."""
    return path.endswith(SEARCHABLE) and not is_backup(path)


def is_backup(path: str) -> bool:
    """Whether a file is a backup of MEMORY.md."""
    return re.search(BACKUP, path) is not None


def new_file_flags(path: str) -> Flags:
    """The core files start enabled and in their order; every other file starts disabled, after them."""
    return Flags(enabled=True, sort_order=_SEEDS[path]) if path in _SEEDS else _OTHERS


@cache
def seed_files() -> Mapping[str, str]:
    """Path to text of the files a new agent starts with."""
    return MappingProxyType({path: read_resource(f"prompts/seeds/{path}") for path in _SEEDS})


def is_unedited_seed(path: str, text: str) -> bool:
    """Whether a file is a template of ours as it came: wherever it is, and also where it was edited and put back.

    A release that changes the text of a seed must go on to know the former one here.
    """
    return path in _SEEDS and text.strip() == seed_files()[path].strip()
