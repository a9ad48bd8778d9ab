"""All pages in one router, with what they look like."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from reverie_server.pages.entrance import STATIC
from reverie_server.pages.routes import (
    administration,
    conversations,
    facts,
    forget,
    graph,
    memory,
    nights,
    overview,
    prompt,
    search,
    sign_in,
    snapshot,
    timeline,
    turns,
    which,
)

# The scripts and styles of the API reference.
REFERENCE = f"{STATIC}reference"
_REFERENCE_FILES = Path(str(files("fastapi_offline"))) / "static"


@cache
def pages() -> APIRouter:
    """The pages, put together once in a process."""
    together = APIRouter()
    together.routes.append(Mount(REFERENCE, _Static(directory=_REFERENCE_FILES)))
    together.routes.append(Mount(STATIC.rstrip("/"), _Static(directory=Path(__file__).with_name("static"))))
    for part in (
        sign_in,
        which,
        overview,
        timeline,
        memory,
        facts,
        conversations,
        search,
        prompt,
        turns,
        graph,
        nights,
        forget,
        snapshot,
        administration,
    ):
        together.include_router(part.router)
    return together


class _Static(StaticFiles):
    """Files of the wheel, which a browser may keep for an hour."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, to be kept."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=3600"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
