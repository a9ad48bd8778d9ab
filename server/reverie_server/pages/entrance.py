"""Which requests are for pages, what they need, and what a person is shown where one is refused."""

from __future__ import annotations

from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Scope

from reverie_indexer.errors import ReverieError, Unauthorized
from reverie_server.http.problems import status_of
from reverie_server.pages.cookies import drop_session, session_token
from reverie_server.pages.render import HEADERS, error_page

ROOT = "/browser"
LOGIN = f"{ROOT}/login"
STATIC = f"{ROOT}/static/"


class Pages:
    """The way in of pages, for the entrance of all requests."""

    def applies(self, scope: Scope) -> bool:
        """Whether a request is for a page."""
        path: str = scope["path"]
        return path == ROOT or path.startswith(f"{ROOT}/")

    def needs_key(self, scope: Scope) -> bool:
        """Whether it is for one that only a caller sees: not to sign in, nor what all pages look like."""
        path: str = scope["path"]
        return path != LOGIN and not path.startswith(STATIC)

    def are_open(self, scope: Scope) -> bool:
        """Whether it is for a page that needs none."""
        return self.applies(scope) and not self.needs_key(scope)

    def token(self, scope: Scope) -> str | None:
        """The token of the browser's session; None without one."""
        return session_token(scope)

    def answer(self, request: Request, error: ReverieError) -> ASGIApp:
        """What a person is shown where a request is refused: the way to sign in, or why."""
        return refusal(request, error)


def refusal(request: Request, error: ReverieError) -> Response:
    """The answer to a request that an error ends: signing in where that is missing, else a page that says why.

    A script that follows events is told no: it cannot sign in.
    """
    is_script = request.headers.get("accept") == "text/event-stream"
    if isinstance(error, Unauthorized) and not is_script:
        path = request.url.path if request.method == "GET" else ROOT
        target = LOGIN if path == ROOT else f"{LOGIN}?next={quote(path)}"
        response: Response = RedirectResponse(target, 303, HEADERS)
        drop_session(response)
        return response
    return error_page(status_of(type(error)) or 500, error.code, error.detail)
