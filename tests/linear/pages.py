"""How the functions of pages are called: the text as a file, a header, a title."""

from __future__ import annotations

from collections.abc import Mapping

from tests.growth import Reading

from reverie_server.pages import charts, cookies, graph_drawing, markdown


def _session_token(text: str) -> object:
    return cookies.session_token({"headers": [(b"cookie", text.encode("utf-8", "replace"))]})


def _theme_of(text: str) -> object:
    return cookies.theme_of({"headers": [(b"cookie", text.encode("utf-8", "replace"))]})


TABLE: Mapping[str, Reading] = {
    "reverie_server.pages.markdown.rendered": markdown.rendered,
    "reverie_server.pages.cookies.session_token": _session_token,
    "reverie_server.pages.cookies.theme_of": _theme_of,
    "reverie_server.pages.cookies.form_token": lambda text: cookies.form_token(b"secret", text),
    "reverie_server.pages.charts.bar": lambda text: charts.bar(0.5, text),
    "reverie_server.pages.graph_drawing.drawing": lambda text: graph_drawing.drawing(
        text, [(text, "knows", line) for line in text.split("\n")]
    ),
    "reverie_server.pages.charts.curve": lambda text: charts.curve([0.0, 1.0], text),
}
EXEMPT: Mapping[str, str] = {
    "reverie_server.pages.cookies.set_session": "takes a token of 43 characters that the server made",
    "reverie_server.pages.cookies.set_theme": "takes one of three words, which the form was checked for",
    "reverie_server.pages.cookies.drop_session": "takes no text",
    "reverie_server.pages.time_slider.time_slider": "takes days",
    "reverie_server.pages.words.done": "one look at a word",
    "reverie_server.pages.words.many": "takes words of ours",
    "reverie_server.pages.words.outcome": "takes words of ours",
    "reverie_server.pages.words.page_of": "the path of a page, split once",
}
