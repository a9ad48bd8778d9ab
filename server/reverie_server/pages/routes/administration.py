"""What administrators look after: people, jobs, agents with their settings, keys, the audit; and how to connect."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from reverie_indexer.errors import ValidationFailed
from reverie_server.http.routes import agents, audit, keys, listings, owners, pipeline
from reverie_server.http.schemas.audit import AuditQuery
from reverie_server.http.schemas.common import AgentPut, AgentsQuery, PlainPage
from reverie_server.http.schemas.keys import KeyPost
from reverie_server.http.schemas.owners import OwnerDelete, OwnersQuery
from reverie_server.http.schemas.pipeline import PipelineQuery, PipelineRetry
from reverie_server.pages.entrance import ROOT
from reverie_server.pages.visit import SENT, PageRoute, Sent, Visit, Visiting
from reverie_server.settings.agent import AgentSettings, effective_settings

Plain = TypeVar("Plain", bound=BaseModel)
_FIRST_KEY = (
    "the first key has to be an administrator's, for no single person or agent: with another one nobody could make or "
    "revoke keys here any more. Make it, sign in with it, then make this one"
)
router = APIRouter(prefix=f"{ROOT}/{{a}}", include_in_schema=False, route_class=PageRoute)


@router.get("/people")
async def people(visit: Visiting) -> Response:
    """Whose memory the agent has."""
    query = _plain(visit, OwnersQuery, "q", "cursor")
    found = await listings.list_owners(visit.agent_id, visit.system, visit.who, query)
    return await visit.show("people.html", owners=found.owners, next_cursor=found.next_cursor, q=query.q or "")


@router.post("/person")
async def look_at_person(visit: Visiting, form: Sent) -> Response:
    """The memory that would go with a person, across all agents, before it does."""
    owner_key = form.text("person")
    receipt = await owners.delete_owner(owner_key, visit.system, visit.who, OwnerDelete(dry_run=True))
    return await visit.show("person.html", receipt=receipt)


@router.post("/person/delete")
async def delete_person(visit: Visiting, form: Sent) -> Response:
    """Remove all that memory has of a person; their key has to be typed."""
    owner_key = form.text("person")
    dry_run = form.optional("confirm") != owner_key
    receipt = await owners.delete_owner(owner_key, visit.system, visit.who, OwnerDelete(dry_run=dry_run))
    return await visit.show("person.html", receipt=receipt)


@router.post("/person/export")
async def export_person(visit: Visiting, form: Sent) -> Response:
    """All that memory has of a person, as a ZIP."""
    return await owners.export_owner(form.text("person"), visit.system, visit.who)


@router.get("/jobs")
async def jobs(visit: Visiting) -> Response:
    """How the background work does, stage by stage, and what has failed for good."""
    work = await pipeline.get_pipeline(visit.agent_id, visit.system, visit.who, visit.query(PipelineQuery))
    return await visit.show("jobs.html", work=work)


@router.post("/jobs")
async def retry(visit: Visiting, form: Sent) -> Response:
    """Try again what has failed for good: one job, or all."""
    body = PipelineRetry.model_validate({**visit.whose, "job_id": form.optional("job_id")})
    await pipeline.retry_pipeline(visit.agent_id, visit.system, visit.who, body)
    return visit.go("jobs", done="retried")


@router.get("/agent")
async def agent(visit: Visiting) -> Response:
    """The agent's settings: each as it is in force, and where it comes from."""
    current = await agents.get_agent(visit.agent_id, visit.system, visit.who)
    defaults = visit.system.settings.agent_defaults
    in_force = effective_settings(defaults, current.settings)
    rows = [
        (name, getattr(in_force, name), current.settings.get(name), getattr(defaults, name), field.description or "")
        for name, field in AgentSettings.model_fields.items()
    ]
    others = await agents.list_agents(visit.system, visit.who, AgentsQuery(limit=100))
    return await visit.show("agent.html", agent=current, rows=rows, agents=others.agents)


@router.post("/agent")
async def change_agent(visit: Visiting, form: Sent) -> Response:
    """Set settings of the agent; an empty field follows the server again."""
    current = await agents.get_agent(visit.agent_id, visit.system, visit.who)
    settings = {name: _value(text) for name in AgentSettings.model_fields if (text := form.optional(name)) is not None}
    fields = {"name": form.optional("agent_name"), "leader_agent_id": current.leader_agent_id, "settings": settings}
    body = AgentPut.model_validate(fields)
    await agents.put_agent(visit.agent_id, body, Response(), visit.system, visit.who)
    return visit.go("agent", done="settings")


@router.get("/keys")
async def list_keys(visit: Visiting) -> Response:
    """The tenant's keys, without their secrets."""
    found = await keys.list_keys(visit.system, visit.who, _plain(visit, PlainPage, "cursor"))
    return await visit.show("keys.html", keys=found.keys, next_cursor=found.next_cursor, new_key=None, base="")


@router.post("/keys")
async def make_key(visit: Visiting, form: Sent) -> Response:
    """Make a key, which is shown this once."""
    bound, person = (form.optional("agents") or "").split(), form.optional("person")
    if visit.who.key_id is None and (form.text("role") != "admin" or bound or person):
        raise ValidationFailed(_FIRST_KEY)
    fields: dict[str, Any] = {"role": form.text("role"), "name": form.optional("name"), "agents": bound or None}
    new_key = await keys.create_key(KeyPost.model_validate({**fields, "owner_key": person}), visit.system, visit.who)
    found = await keys.list_keys(visit.system, visit.who, PlainPage())
    return await visit.show(
        "keys.html", keys=found.keys, next_cursor=found.next_cursor, new_key=new_key, base=_base(visit)
    )


@router.post("/keys/{key_id}", dependencies=SENT)
async def revoke_key(visit: Visiting, key_id: str) -> Response:
    """Accept a key no more, nor the sessions of it."""
    await keys.revoke_key(key_id, visit.system, visit.who)
    return visit.go("keys", done="revoked")


@router.get("/audit")
async def show_audit(visit: Visiting) -> Response:
    """Who did what, when and by which key: never a text."""
    found = await audit.list_audit(visit.system, visit.who, visit.query(AuditQuery, "action", "cursor", limit=100))
    return await visit.show("audit.html", entries=found.entries, next_cursor=found.next_cursor)


@router.get("/connect")
async def connect(visit: Visiting) -> Response:
    """What to write into a client to use this memory, with the address that this page came from."""
    return await visit.show("connect.html", base=_base(visit))


def _base(visit: Visit) -> str:
    return str(visit.request.base_url).rstrip("/")


def _plain(visit: Visit, kind: type[Plain], *names: str) -> Plain:
    params = visit.request.query_params
    return kind.model_validate({"limit": 50, **{name: params[name] for name in names if params.get(name)}})


def _value(text: str) -> object:
    """A setting as its field has it: a number, yes or no, else the text."""
    lower = text.lower()
    if lower in ("true", "false"):
        return lower == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
