"""Where the files that ship beside the code are: inside the installed wheel, or in the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def resource(name: str) -> Path:
    """The path of `schema.sql`, `weights.lock`, `migrations` or a file under `prompts/`, relative to the checkout.

    The wheel carries them under `reverie_indexer/data`; an editable install reads the checkout.
    """
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.exists() else _CHECKOUT / name


@cache
def read_resource(name: str) -> str:
    """The text of a resource, read once."""
    return resource(name).read_text(encoding="utf-8")
