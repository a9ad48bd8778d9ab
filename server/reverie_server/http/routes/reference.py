"""The API reference for servers that show it to callers with a key only: FastAPI's own routes check no keys."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import HTMLResponse

from reverie_server.http.context import caller

OPENAPI_PATH = "/openapi.json"
DOCS_PATH = "/docs"
REDOC_PATH = "/redoc"


def reference_router(app: FastAPI) -> APIRouter:
    """The routes of FastAPI's reference, for whoever has a key."""
    reference = APIRouter(dependencies=[Depends(caller)], include_in_schema=False)

    @reference.get(OPENAPI_PATH)
    async def document() -> dict[str, Any]:
        return app.openapi()

    @reference.get(DOCS_PATH)
    async def docs() -> HTMLResponse:
        return get_swagger_ui_html(openapi_url=OPENAPI_PATH, title=app.title)

    @reference.get(REDOC_PATH)
    async def redoc() -> HTMLResponse:
        return get_redoc_html(openapi_url=OPENAPI_PATH, title=app.title)

    return reference
