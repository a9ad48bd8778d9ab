"""The size and depth of JSON are checked before it is parsed. Pure.

A parser makes an object of each value, and validation an error of each wrong one, which takes far longer than the bytes
take to arrive. So the values and the levels are counted first, by passes over the bytes. Each pass takes a millisecond
for a megabyte.
"""

from __future__ import annotations

import json

from reverie_indexer.errors import ValidationFailed

# The error of an unknown field takes some 10 µs: all of them take 0.1 s. A body of 500 messages has some thousands.
MAX_VALUES = 10_000
MAX_DEPTH = 100
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def check_shape(body: bytes, *, max_values: int = MAX_VALUES, max_depth: int = MAX_DEPTH) -> None:
    """Raise ValidationFailed for JSON over `max_values` or `max_depth`, or in another encoding than UTF-8.

    Bytes that are no JSON may pass.
    """
    # Parsers take UTF-16 and UTF-32, too, in whose bytes a quotation mark may be half of a letter.
    if not json.detect_encoding(body).startswith("utf-8"):
        raise ValidationFailed("body: JSON is sent as UTF-8")
    # Most bodies are a few values, however long their texts.
    if body.count(b",") + body.count(b"[") + body.count(b"{") <= max_depth:
        return
    # Without what is escaped, each quotation mark begins or ends a text.
    plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 4 * max_values:
        raise _too_many(max_values)
    outside = b"".join(plain.split(b'"')[::2])
    if outside.count(b",") + outside.count(b"[") + outside.count(b"{") > max_values:
        raise _too_many(max_values)
    depth = 0
    for bracket in outside.translate(None, _NOT_BRACKETS):
        depth += 1 if bracket in b"[{" else -1
        if depth > max_depth:
            raise ValidationFailed(f"body: JSON has at most {max_depth} levels here")
        if depth < 0:
            # No JSON: the parser finds that out where this goes wrong, and reads no further.
            return


def _too_many(max_values: int) -> ValidationFailed:
    return ValidationFailed(f"body: JSON has at most {max_values} values here; send less at once")
