"""Lines that earlier releases cut are recognised as the beginnings of what is forgotten."""

from __future__ import annotations

import pytest

from reverie_server.forgetting.cut_lines import cut_beginnings

SAFE = "The safe in the cellar stands behind the shelf with the jars, and its combination is 48-17-93, says Ada."
CUT = "The safe in the cellar stands behind the shelf with the jars, and its combination is 48…"
TRESOR = "Der Tresor im Keller steht hinter dem Regal"
CLAVE = "La clave de la caja fuerte es 48"
MIMA = "地下室保险箱的密码是四八"


@pytest.mark.parametrize(
    ("line", "text", "found"),
    [
        (f"Concluded: {CUT}", SAFE, [CUT]),
        # The request is not in the entry, the entry not in capitals.
        (f"Concluded: {CUT}", f"Please remember that t{SAFE[1:]} And I like tea.", [CUT]),
        # What goes begins within the line.
        (f"Concluded: {CUT}", "its combination is 48-17-93", ["its combination is 48…"]),
        (f"## 2026-04-02 02:00 emergence: {CUT} (report 5f2c9a01d4b7e683)", SAFE, [CUT]),
        (f"Concluded: {TRESOR}…", f"{TRESOR} von Opa.", [f"{TRESOR}…"]),
        (f"Concluded: {CLAVE}…", f"{CLAVE}17.", [f"{CLAVE}…"]),
        (f"Concluded: {MIMA}…", f"请记住，{MIMA}一七。", [f"{MIMA}…"]),
        # Of another statement only a few words are the same, or its end.
        (f"Concluded: {CUT}", "The safe in the cellar is empty.", []),
        ("Concluded: The committee meets on the first Monday of…", "We eat out on the first Monday of May.", []),
        (f"Concluded: {CUT}", "48-17-93", []),
        (f"Concluded: {SAFE}", SAFE, []),
        (f"Concluded: {CUT}", "", []),
    ],
)  # fmt: skip
def test_what_a_cut_line_has_of_a_text_is_told(line: str, text: str, found: list[str]) -> None:
    assert cut_beginnings([line], [text]) == found
    assert cut_beginnings([line, line], ["Ada likes tea.", text]) == found
