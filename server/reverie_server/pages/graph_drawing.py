"""Draws an entity amid those that it has to do with, as SVG. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

MAX_NEIGHBOURS = 24
_MAX_NAME_CHARS = 22
_WIDTH, _HEIGHT = 720, 420
_FRAME = Markup(
    '<svg class="graph" viewBox="0 0 {width} {height}" role="img" preserveAspectRatio="xMidYMid meet">'
    "<title>{title}</title>{lines}{nodes}</svg>"
)
_LINE = Markup(
    '<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"></line>'
    '<text class="edge" x="{x}" y="{y}" text-anchor="middle">{name}</text>'
)
_NODE = Markup(
    '<g class="{kind}"><circle cx="{x}" cy="{y}" r="{r}"></circle>'
    '<text x="{x}" y="{below}" text-anchor="middle">{name}</text></g>'
)


def drawing(name: str, edges: Sequence[tuple[str, str, str]]) -> Markup:
    """The entity of that name in the middle, and around it the other ends of the edges (source, relation, target) that
    it is an end of, at most `MAX_NEIGHBOURS`."""
    relations: dict[str, list[str]] = {}
    for source, relation, target in edges:
        if name in (source, target) and source != target:
            other = target if source == name else source
            relations.setdefault(other, []).append(f"{relation} →" if source == name else f"← {relation}")
    neighbours = list(relations.items())[:MAX_NEIGHBOURS]
    middle_x, middle_y = _WIDTH / 2, _HEIGHT / 2
    lines, nodes = [], [_node(name, middle_x, middle_y, "own")]
    for index, (other, names) in enumerate(neighbours):
        angle = 2 * math.pi * index / len(neighbours) - math.pi / 2
        x, y = middle_x + 270 * math.cos(angle), middle_y + 160 * math.sin(angle)
        label = ", ".join(dict.fromkeys(names))
        between = (0.45 * middle_x + 0.55 * x, 0.45 * middle_y + 0.55 * y)
        lines.append(
            _LINE.format(
                x1=round(middle_x), y1=round(middle_y), x2=round(x), y2=round(y), x=round(between[0]),
                y=round(between[1]) - 4, name=_short(label),
            )
        )  # fmt: skip
        nodes.append(_node(other, x, y, "other"))
    title = f"{name} and {len(neighbours)} others"
    return _FRAME.format(
        width=_WIDTH, height=_HEIGHT, title=title, lines=Markup("").join(lines), nodes=Markup("").join(nodes)
    )


def _node(name: str, x: float, y: float, kind: str) -> Markup:
    radius = 14 if kind == "own" else 9
    return _NODE.format(kind=kind, x=round(x), y=round(y), r=radius, below=round(y) + radius + 16, name=_short(name))


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME_CHARS else f"{name[: _MAX_NAME_CHARS - 1]}…"
