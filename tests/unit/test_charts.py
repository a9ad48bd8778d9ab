"""Bars of pages: their size is a number within the bar, and their title is text."""

from __future__ import annotations

from markupsafe import Markup

from reverie_server.pages.charts import bar


def test_a_bar_shows_a_share_with_a_mark_and_escapes_its_title() -> None:
    drawn = bar(0.256, 'trust "<b>"', 0.5)
    assert isinstance(drawn, Markup)
    assert "<title>trust &#34;&lt;b&gt;&#34;</title>" in drawn
    assert '<rect class="share" width="25.6" height="8"/><rect class="mark" x="50.0" width="1.5" height="8"/>' in drawn
    assert [f'width="{width}"' in bar(share, "") for share, width in ((-1.0, "0.0"), (7.0, "100.0"))] == [True, True]
    assert "mark" not in bar(0.5, "")
