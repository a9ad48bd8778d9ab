"""The API reference. Its scripts and styles come with the server, so that it works without any other."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from fastapi.responses import HTMLResponse

from reverie_server.http.context import caller

OPENAPI_PATH = "/openapi.json"
DOCS_PATH = "/docs"
REDOC_PATH = "/redoc"


def reference_router(app: FastAPI, assets: str, *, is_public: bool) -> APIRouter:
    """The reference, for whoever has a key, or for everybody. `assets` is the path of its scripts and styles."""
    needed = [] if is_public else [Depends(caller)]
    reference = APIRouter(dependencies=needed, include_in_schema=False)

    @reference.get(OPENAPI_PATH)
    async def document() -> dict[str, Any]:
        return app.openapi()

    @reference.get(DOCS_PATH)
    async def docs() -> HTMLResponse:
        return get_swagger_ui_html(
            openapi_url=OPENAPI_PATH,
            title=app.title,
            swagger_js_url=f"{assets}/swagger-ui-bundle.js",
            swagger_css_url=f"{assets}/swagger-ui.css",
            swagger_favicon_url=f"{assets}/favicon.png",
        )

    @reference.get(REDOC_PATH)
    async def redoc() -> HTMLResponse:
        return get_redoc_html(
            openapi_url=OPENAPI_PATH,
            title=app.title,
            redoc_js_url=f"{assets}/redoc.standalone.js",
            redoc_favicon_url=f"{assets}/favicon.png",
            with_google_fonts=False,
        )

    return reference
