"""The cookies of a browser, its session and its colours, and the token of its forms. Pure."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from http.cookies import CookieError, SimpleCookie

from starlette.responses import Response
from starlette.types import Scope

SESSION = "reverie_session"
THEME = "reverie_theme"
_MAX_COOKIE_BYTES = 4096


def session_token(scope: Scope) -> str | None:
    """The token of a request's session; None without one."""
    return _cookie(scope, SESSION)


def theme_of(scope: Scope) -> str:
    """The colours that a person has chosen: light or dark, or "" for those of their system."""
    chosen = _cookie(scope, THEME)
    return chosen if chosen in ("light", "dark") else ""


def set_theme(response: Response, chosen: str) -> None:
    """Let the browser keep the choice for a year; "" takes it back."""
    if chosen:
        response.set_cookie(THEME, chosen, max_age=365 * 86400, path="/", httponly=True, samesite="strict")
    else:
        response.delete_cookie(THEME, path="/", httponly=True, samesite="strict")


def _cookie(scope: Scope, cookie_name: str) -> str | None:
    for name, value in scope["headers"]:
        if name == b"cookie" and len(value) <= _MAX_COOKIE_BYTES:
            cookies: SimpleCookie = SimpleCookie()
            try:
                cookies.load(value.decode("latin-1"))
            except CookieError:
                continue
            if cookie_name in cookies and cookies[cookie_name].value:
                return cookies[cookie_name].value
    return None


def set_session(response: Response, token: str, ends_at: datetime, *, is_secure: bool) -> None:
    """Let the browser keep a session until it ends. No script sees it, and no other site's request brings it."""
    response.set_cookie(SESSION, token, expires=ends_at, path="/", httponly=True, samesite="strict", secure=is_secure)


def drop_session(response: Response) -> None:
    """Let the browser forget its session."""
    response.delete_cookie(SESSION, path="/", httponly=True, samesite="strict")


def form_token(secret: bytes, session: str | None) -> str:
    """The token in the forms of a session, so that no other site can send one; of an open server they are all alike."""
    return hmac.new(secret, b"form:" + (session or "").encode(), hashlib.sha256).hexdigest()
