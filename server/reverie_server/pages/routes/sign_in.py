"""Signing in with a key, and out; and the colours of all pages."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from reverie_indexer.errors import TooManyRequests, Unauthorized, ValidationFailed
from reverie_server.access.keys import Caller
from reverie_server.access.wrong_keys import KeyGuard
from reverie_server.http.entrance import GUARD, client_address
from reverie_server.pages.cookies import drop_session, session_token, set_session, set_theme
from reverie_server.pages.entrance import LOGIN, ROOT
from reverie_server.pages.render import HEADERS, page
from reverie_server.pages.visit import PageRoute, Sent, first_agent, read_form, visitor
from reverie_server.runtime import Runtime

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@router.get("/")
async def root() -> Response:
    """The way to the Memory Browser."""
    return RedirectResponse(ROOT, 307, dict(HEADERS))


@router.get(ROOT)
async def start(request: Request, who: Annotated[Caller, Depends(visitor)]) -> Response:
    """The first agent's memory: the owner's of a bound key, else the team's."""
    system = cast("Runtime", request.app.state.runtime)
    return RedirectResponse(f"{ROOT}/{await first_agent(system, who)}/overview", 303, dict(HEADERS))


@router.get(LOGIN)
async def ask_for_key(request: Request) -> Response:
    """The page to sign in on."""
    return page("login.html", target=_inside(request.query_params.get("next")), wrong="")


@router.post(LOGIN)
async def sign_in(request: Request) -> Response:
    """Begin a session with a key. Wrong keys are slowed down as they are for requests."""
    form = await read_form(request)
    system, guard = cast("Runtime", request.app.state.runtime), cast("KeyGuard", request.scope[GUARD])
    target = _inside(form.optional("next"))
    try:
        who = await guard.authenticate(f"Bearer {form.text('key').strip()}", client_address(request.scope))
        if who.key_id is None:
            raise Unauthorized("this server has no keys")
        token, ends_at = await system.browser_sessions.open(who)
    except (Unauthorized, TooManyRequests) as error:
        why = error.detail if isinstance(error, TooManyRequests) else "This key is not valid."
        return page("login.html", 401, target=target, wrong=why)
    response = RedirectResponse(target, 303, dict(HEADERS))
    set_session(response, token, ends_at, is_secure=request.url.scheme == "https")
    return response


@router.post(f"{ROOT}/logout")
async def sign_out(request: Request, who: Annotated[Caller, Depends(visitor)]) -> Response:
    """End the session."""
    await read_form(request)
    system = cast("Runtime", request.app.state.runtime)
    if (token := session_token(request.scope)) is not None and who.key_id is not None:
        await system.browser_sessions.close(token)
    response = RedirectResponse(LOGIN, 303, dict(HEADERS))
    drop_session(response)
    return response


@router.post(f"{ROOT}/{{a}}/theme")
async def choose_colours(form: Sent) -> Response:
    """Keep the choice of light or dark, or of the system's, and go back to the page."""
    chosen = form.optional("theme") or ""
    if chosen not in ("", "light", "dark"):
        raise ValidationFailed("theme: light, dark, or nothing for the system's")
    response = RedirectResponse(_inside(form.optional("back")), 303, dict(HEADERS))
    set_theme(response, chosen)
    return response


def _inside(target: str | None) -> str:
    """An address to go on to: of a page of this browser, never of another server."""
    is_page = target is not None and target.startswith(f"{ROOT}/") and "\\" not in target and "//" not in target
    return target if target is not None and is_page and target.isprintable() else ROOT
