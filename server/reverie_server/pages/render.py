"""Makes pages of templates. Whatever a template is given is escaped; scripts and styles come from this server alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from reverie_server.pages import charts, words
from reverie_server.pages.markdown import rendered

TEMPLATES = Path(__file__).with_name("templates")
# No text of a memory is kept by a browser or a proxy, named to another site, or run.
HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # With `no-referrer` a browser would not say where a form comes from.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_TITLES = {401: "Sign in", 403: "Not permitted", 404: "Not found", 409: "It has changed", 412: "It has changed"}


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["day"] = _day
    environment.filters["moment"] = _moment
    environment.filters["clock"] = _clock
    environment.filters["word"] = _word
    environment.filters["percent"] = _percent
    environment.filters["markdown"] = rendered
    environment.globals["charts"] = charts
    environment.globals["words"] = words
    environment.globals["static"] = _static
    environment.filters["many"] = words.many
    return environment


def page(template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """A page of a template."""
    return HTMLResponse(_environment().get_template(template).render(**values), status, dict(HEADERS))


def error_page(status: int, code: str, detail: str) -> HTMLResponse:
    """A page that says why a request was refused."""
    return page("error.html", status, title=_TITLES.get(status, "That did not work"), code=code, detail=detail)


@cache
def _static(name: str) -> str:
    """The address of a file that all pages share: another one after an upgrade, since browsers keep it for an hour."""
    digest = hashlib.sha256((TEMPLATES.with_name("static") / name).read_bytes()).hexdigest()
    return f"/browser/static/{name}?{digest[:12]}"


def _moment(at: datetime | None) -> str:
    """A time to the minute, in UTC; "" for None."""
    return "" if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"


def _word(value: object) -> object:
    """Yes and no in words, nothing as a dash, and all else as it is."""
    return {True: "yes", False: "no", None: "–"}[value] if value is None or isinstance(value, bool) else value


def _clock(at: datetime, time_zone: str) -> str:
    return f"{at.astimezone(ZoneInfo(time_zone)):%H:%M}"


def _day(at: datetime | None) -> str:
    """The day of a time, in UTC; what holds from the first year on has no beginning that is known."""
    if at is None or at.year <= 1:
        return "" if at is None else "ever"
    return f"{at.astimezone(UTC):%Y-%m-%d}"


def _percent(share: float) -> str:
    return f"{round(100 * share)} %"
