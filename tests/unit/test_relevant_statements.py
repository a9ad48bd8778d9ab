"""Which of the statements that a query finds are listed for a person to choose from."""

from __future__ import annotations

import pytest

from reverie_server.forgetting.relevant import best_of


@pytest.mark.parametrize(
    ("language", "query", "best", "others"),
    [
        (
            "english",
            "the wifi password of the cabin",
            ["The Wi-Fi password of the cabin is Maple-4471.", "As I said, 4471 it is, behind Maple."],
            ["The Wi-Fi password of the office is Pine-9920.", "The cabin needs a new roof."],
        ),
        (
            "german",
            "das WLAN-Passwort der Hütte",
            ["Das WLAN-Passwort der Hütte ist Ahorn-44."],
            ["Das WLAN-Passwort vom Büro ist Kiefer-99.", "Die Hütte braucht ein neues Dach."],
        ),
        (
            "spanish",
            "el PIN de la tarjeta del banco",
            ["El PIN de mi tarjeta es 2290."],
            ["Abrí una cuenta en el banco para Ada."],
        ),
        ("chinese", "银行卡密码", ["我银行卡的密码是2290。"], ["我给林艾在银行开了一个账户。"]),
        # Of none that has all of it, all that have as much.
        (
            "english",
            "gym locker code for Tuesday",
            ["My gym locker is blue.", "The locker code is 4471."],
            ["On Friday I go to the gym."],
        ),
        # By their meaning alone.
        ("english", "digits", ["The code of the shed is 8841.", "My PIN is 7702."], []),
    ],
)
def test_what_has_all_that_a_query_names_is_listed_and_the_rest_only_where_nothing_has(
    language: str, query: str, best: list[str], others: list[str]
) -> None:
    assert best_of([*others, *best], query, language) == best
