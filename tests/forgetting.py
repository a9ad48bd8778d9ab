"""Forgetting as people do it: a query lists first, and what it listed is then chosen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.forgetting.forget import Receipt
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime


async def forget_all(runtime: Runtime, grant: Grant, place: Place, *, dry_run: bool = False, **target: Any) -> Receipt:
    """The receipt of forgetting a target; of a query, of everything that it lists."""
    wanted = Target(**target)
    if wanted.query is not None and not dry_run:
        listed = await runtime.forgetting.forget(grant, place, wanted, dry_run=True)
        if not listed.items:
            return listed
        wanted = replace(wanted, items=[item.id for item in listed.items])
    return await runtime.forgetting.forget(grant, place, wanted, dry_run=dry_run)
