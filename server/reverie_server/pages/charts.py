"""Small charts as SVG: sizes are attributes, since pages allow no styles of their own. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 240, 44
_CURVE = Markup(
    '<svg class="curve" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    "<title>{title}</title>"
    '<polyline fill="none" stroke="currentColor" stroke-width="2" points="{points}"/></svg>'
)


def curve(values: Sequence[float], title: str) -> Markup:
    """A line through values at equal distances, from the left; flat where there is one value or none."""
    top = max([*values, 1])
    step = _WIDTH / max(1, len(values) - 1)
    heights = (_HEIGHT - 3 - (_HEIGHT - 8) * value / top for value in values)
    points = " ".join(f"{index * step:.1f},{height:.1f}" for index, height in enumerate(heights))
    return _CURVE.format(width=_WIDTH, height=_HEIGHT, title=title, points=points)


def bar(share: float, title: str, threshold: float | None = None) -> Markup:
    """A bar of a share from 0 to 1, with a mark at a threshold."""
    mark = "" if threshold is None else f'<rect class="mark" x="{round(100 * threshold, 1)}" width="1.5" height="8"/>'
    width = round(100 * min(1.0, max(0.0, share)), 1)
    # A page has a hundred of them: `Markup.format`, which escapes whatever it is given, would be a third of its time.
    return Markup(  # noqa: S704  # the title is escaped, all else are numbers
        '<svg class="bar" viewBox="0 0 100 8" width="100" height="8" role="img" preserveAspectRatio="none">'
        f"<title>{escape(title)}</title>"
        f'<rect class="rest" width="100" height="8"/><rect class="share" width="{width}" height="8"/>{mark}</svg>'
    )
