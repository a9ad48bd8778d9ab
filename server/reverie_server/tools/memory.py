"""The tools that save, correct and forget memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from reverie_server.access.audit import Action, counted
from reverie_server.access.connection import Connection
from reverie_server.forgetting.selection import Target
from reverie_server.tools import arguments

if TYPE_CHECKING:
    from reverie_server.runtime import Runtime


async def save_memory(system: Runtime, by: Connection, args: arguments.SaveMemory) -> dict[str, Any]:
    """Save a fact to long-term memory."""
    grant, place = await system.gate.write(by.caller, by.agent_id, by.owner_key, None)
    saved = await system.long_term.save(place, args.content, args.category, by=grant.author)
    return {"saved": True, "section": saved.section, "preview": saved.preview, "scope": place.scope}


async def update_memory(system: Runtime, by: Connection, args: arguments.UpdateMemory) -> dict[str, Any]:
    """Correct or delete a text of long-term memory."""
    grant, place = await system.gate.write(by.caller, by.agent_id, by.owner_key, None)
    updated = await system.long_term.update(place, args.old_text, args.new_text, by=grant.author)
    return {
        "replacements": updated.replacements,
        "deleted": updated.deleted,
        "size_after": updated.size_after,
        "version": updated.version,
        "scope": place.scope,
    }


async def forget_memory(system: Runtime, by: Connection, args: arguments.ForgetMemory) -> dict[str, Any]:
    """Forget the target if `confirm`, else show what would be removed."""
    action: Action = "forget" if args.confirm else "read"
    grant, place = await system.gate.write(by.caller, by.agent_id, by.owner_key, None, action=action)
    target = Target(query=args.query, id=args.id, text=args.text, items=args.items)
    receipt = await system.forgetting.forget(grant, place, target, dry_run=not args.confirm)
    counted(len(receipt.items))
    return asdict(receipt)
