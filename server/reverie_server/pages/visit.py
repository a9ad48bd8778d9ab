"""Who looks at a page, of which agent and owner; and the forms that they send."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeVar, cast
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from fastapi import Depends, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response

from reverie_indexer.errors import Forbidden, NotFound, ReverieError, ValidationFailed
from reverie_indexer.file_rules import check_agent_id, check_owner_key
from reverie_indexer.model import Scope
from reverie_server.access.keys import Caller
from reverie_server.http.context import caller, encode_cursor
from reverie_server.http.routes import agents
from reverie_server.http.routes.listings import get_summary
from reverie_server.http.schemas.common import Owner
from reverie_server.http.schemas.owners import SummaryBody
from reverie_server.pages import words
from reverie_server.pages.cookies import form_token, session_token, theme_of
from reverie_server.pages.entrance import ROOT, refusal
from reverie_server.pages.render import HEADERS, page
from reverie_server.runtime import Runtime
from reverie_server.settings.agent import AgentSettings, effective_settings

Query = TypeVar("Query", bound=BaseModel)
_MAX_FIELDS, _MAX_PARTS = 2_000, 20
_OLD_FORM = "this form is older than your session: go back and load the page again"
FORM_FIELD = "form_token"
# Messages on the first page of a conversation.
_FIRST_PAGE = 50


class PageRoute(APIRoute):
    """A route that answers a refusal with a page that says why."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, with errors as pages."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except ReverieError as error:
                return refusal(request, error)
            except (RequestValidationError, ValidationError) as error:
                return refusal(request, ValidationFailed(_sentence(error)))

        return answer


def _sentence(error: RequestValidationError | ValidationError) -> str:
    """The fault of the first wrong field, without the value that was sent."""
    first = error.errors()[0]
    name = next((str(part) for part in reversed(first["loc"]) if isinstance(part, str)), "")
    return f"{name}: {first['msg']}" if name else str(first["msg"])


@dataclass(frozen=True, slots=True)
class Visit:
    """A caller at a page of an agent's memory, as an owner, or (None) at what the team shares."""

    request: Request
    system: Runtime
    who: Caller
    agent_id: str
    owner_key: str | None
    token: str

    @property
    def may_write(self) -> bool:
        """Whether the caller's key may change what they see."""
        return self.who.role != "viewer" and not (self.owner_key is None and self.who.owner_key is not None)

    @property
    def is_admin(self) -> bool:
        """Whether the caller administers the tenant."""
        return self.who.role == "admin" and not self.who.is_bound

    @property
    def done(self) -> str:
        """What the form has done that this page comes after; "" without one."""
        return words.done(self.request.query_params.get("done", ""))

    @property
    def theme(self) -> str:
        """The colours that were chosen: light, dark, or "" for the system's."""
        return theme_of(self.request.scope)

    def url(self, name: str, **query: str | int | None) -> str:
        """The address of a page of the same agent and owner."""
        query_with_owner = {"owner": self.owner_key, **query}
        filled = {name: value for name, value in query_with_owner.items() if value not in (None, "")}
        address = f"{ROOT}/{quote(self.agent_id)}/{quote(name, safe='/')}"
        return f"{address}?{urlencode(filled)}" if filled else address

    def message_url(self, session_id: str, seq: int) -> str:
        """The address of a message, in the page of its conversation that begins a little before it."""
        cursor = encode_cursor(max(0, seq - 4)) if seq > _FIRST_PAGE else None
        return f"{self.url(f'conversations/{session_id}', cursor=cursor)}#m{seq}"

    def elsewhere(self, agent_id: str) -> Visit:
        """The same visit at another agent."""
        return replace(self, agent_id=check_agent_id(agent_id))

    @property
    def whose(self) -> dict[str, str | None]:
        """The owner, as models of requests have it."""
        return {"owner_key": self.owner_key}

    def query(self, kind: type[Query], *names: str, **more: Any) -> Query:
        """A model of a query: of the owner, with the parameters of the address that have these names."""
        parameters = {name: value for name in names if (value := self.request.query_params.get(name))}
        return kind.model_validate({**self.whose, **parameters, **more})

    async def settings(self) -> AgentSettings:
        """The agent's settings that are in force."""
        agent = await agents.get_agent(self.agent_id, self.system, self.who)
        return effective_settings(self.system.settings.agent_defaults, agent.settings)

    async def threshold(self) -> float:
        """The relevance from which on the agent's memory goes into a prompt."""
        return (await self.settings()).auto_inject_threshold

    async def write_scope(self, scope: Scope | None = None) -> Scope:
        """The scope that a write of this visit goes to, as the gate says it, where the write names one or none."""
        if not (await self.settings()).memory_isolation:
            return "team"
        return scope or ("team" if self.owner_key is None else "personal")

    def may_write_to(self, scope: Scope) -> bool:
        """Whether the caller's key may change the memory of a scope."""
        may = {"personal": True, "team": self.who.owner_key is None, "global": self.is_admin}
        return self.may_write and may[scope]

    async def summary(self) -> SummaryBody:
        """How much there is of the memory, and what waits. Raises what `Gate.read` raises."""
        return await get_summary(self.agent_id, self.system, self.who, Owner.model_validate(self.whose))

    async def show(
        self, template: str, status: int = 200, /, *, summary: SummaryBody | None = None, **values: Any
    ) -> HTMLResponse:
        """A page of a template, in the frame of this visit, which shows the summary. Raises what `summary` raises."""
        return page(template, status, visit=self, summary=summary or await self.summary(), **values)

    def go(self, name: str, **query: str | int | None) -> RedirectResponse:
        """Send the browser to another page of the same agent and owner, after a form; `done` is a code of `words`."""
        return RedirectResponse(self.url(name, **query), 303, dict(HEADERS))


async def visitor(request: Request) -> Caller:
    """Who looks; Unauthorized leads to signing in."""
    return await caller(request)


async def visit(request: Request, who: Annotated[Caller, Depends(visitor)], a: str) -> Visit:
    """The visit of a request to a page of an agent. A bound key's owner is the visit's."""
    system = cast("Runtime", request.app.state.runtime)
    owner = request.query_params.get("owner") or who.owner_key
    owner_key = None if not owner else check_owner_key(owner)
    secret = await system.tombstones.load_secret()
    token = form_token(secret, session_token(request.scope))
    return Visit(request, system, who, check_agent_id(a), owner_key, token)


Visiting = Annotated[Visit, Depends(visit)]


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form; of one that has several values, the last."""

    fields: Mapping[str, str]
    values: Mapping[str, list[str]]

    def text(self, name: str) -> str:
        """A field; ValidationFailed where it is missing."""
        if name not in self.fields:
            raise ValidationFailed(f"the form lacks {name}")
        return self.fields[name]

    def number(self, name: str) -> int:
        """A field that is a whole number of at most nine digits; ValidationFailed for any other."""
        text = self.text(name)
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            raise ValidationFailed(f"{name}: a whole number")
        return int(text)

    def optional(self, name: str) -> str | None:
        """A field without white space around it; None where it is missing or empty."""
        return self.fields.get(name, "").strip() or None


async def read_form(request: Request) -> Form:
    """The fields of the request's form. Forbidden for one that another site may have sent."""
    check_same_origin(request)
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise ValidationFailed("a form was expected")
    try:
        body = (await request.body()).decode("utf-8")
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
    except ValueError:
        raise ValidationFailed("the form cannot be read") from None
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        # A browser sends the ends of lines as CRLF.
        values.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return Form({name: each[-1] for name, each in values.items()}, values)


def check_same_origin(request: Request) -> None:
    """Forbidden for a request that a page of another site, or of another port, has sent."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    is_own = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    if site not in (None, "same-origin") or (origin is not None and not is_own) or (origin is None and site is None):
        raise Forbidden("this form was not sent by a page of this server")


async def sent_form(request: Request, visit: Visiting) -> Form:
    """The form of a visit. Forbidden for one that no page of this session was sent with."""
    form = await read_form(request)
    if not hmac.compare_digest(form.fields.get(FORM_FIELD, "").encode(), visit.token.encode()):
        raise Forbidden(_OLD_FORM)
    return form


async def sent_file(request: Request, visit: Visiting) -> bytes:
    """The file of a visit's form with an upload. Forbidden as for other forms; ValidationFailed without a file."""
    check_same_origin(request)
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise ValidationFailed("a form with a file was expected")
    try:
        async with request.form(max_files=1, max_fields=_MAX_PARTS) as form:
            token, file = form.get(FORM_FIELD), form.get("file")
            content = await file.read() if isinstance(file, UploadFile) else b""
    except HTTPException:
        raise ValidationFailed("the form cannot be read") from None
    if not isinstance(token, str) or not hmac.compare_digest(token.encode(), visit.token.encode()):
        raise Forbidden(_OLD_FORM)
    if not content:
        raise ValidationFailed("choose a file first")
    return content


SentFile = Annotated[bytes, Depends(sent_file)]
Sent = Annotated[Form, Depends(sent_form)]
# Of a form whose fields say nothing more than its address.
SENT = [Depends(sent_form)]


async def first_agent(system: Runtime, who: Caller) -> str:
    """The agent that a caller sees first; NotFound where there is none yet."""
    bound = None if who.agent_ids is None else sorted(who.agent_ids)
    found = await system.agents.listing(who.tenant_id, bound, after=None, limit=1)
    if not found:
        raise NotFound("there is no agent yet: it is made by the first write of its memory")
    return found[0].agent_id
