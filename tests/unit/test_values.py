"""Whether two sentences give different values of one thing, by their words alone."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.changes.values import is_other_value, shared_words, subject_of_both, values_of


def is_replaced(old: str, new: str, language: str, *, tells: bool = False) -> bool:
    older, newer = values_of(old, language), values_of(new, language)
    return is_other_value(newer, older, tells=tells) and bool(shared_words(newer, older))


@pytest.mark.parametrize(
    ("language", "old", "new", "subject"),
    [
        (
            "english",
            "The key safe by the door opens with 1954.",
            "Hemi has the key safe altered to 3380.",
            "key safe",
        ),
        ("english", "My eye exam is on May 12.", "The eye doctor's office called and moved me to May 21.", "eye"),
        ("english", "Choir practice is on Wednesday nights.", "Our choir now meets on Mondays.", "Choir"),
        (
            "english",
            "I have 900 euro for a telescope.",
            "I can't go over $650 for the telescope.",
            "telescope",
        ),
        (
            "english",
            "We rehearse on Mondays at 19:30 in the parish hall.",
            "We rehearse on Mondays at 20:00 in the parish hall.",
            "rehearse parish hall",
        ),
        ("english", "The ferry leaves at 7:40 am.", "They say that the ferry leaves at 9:15 now.", "ferry leaves"),
        ("german", "Sie soll am 10. Oktober online gehen.", "Wir gehen erst am 15. November online.", "online gehen"),
        ("spanish", "El dentista me ve el lunes.", "Al final el dentista me ve el jueves.", "dentista"),
        ("chinese", "驾校报好了，科目二约在4月12号。", "驾校刚打电话，科目二推到4月26号了", "驾校 科目二"),
        ("chinese", "小区车位一个月都要350块了。", "这边车位贵一点，每月420。", "车位"),
        ("chinese", "门禁密码是5836。", "门禁换成7719了", "门禁"),
        ("chinese", "还有我报名技师考试的编号，是CD-40966。", "报名编号改成CD-58213了", "报名编号"),
        ("chinese", "报名编号是CD-40966。", "报名编号改成MX-40966了", "报名编号"),
        ("english", "The SH-40966 filter costs 350.", "The SH-40966 filter costs 420.", "filter"),
        ("english", "My gym locker opens with 4-18-32.", "My gym locker code is 4471.", "gym locker"),
        ("chinese", "房租2800块。", "房租涨到3千了", "房租"),
        ("chinese", "车位每月420欧元。", "车位每月500美元", "车位"),
        ("english", "My gym locker opens with 4-18-32.", "The gym locker is 41-8-32 now.", "gym locker"),
        (
            "german",
            "Das Mittagessen kostet 3,90 pro Kind.",
            "Das Mittagessen kostet 3,50 pro Kind.",
            "Mittagessen kostet pro Kind",
        ),
    ],
)
def test_another_value_of_what_both_are_about(language: str, old: str, new: str, subject: str) -> None:
    assert is_replaced(old, new, language)
    shared = shared_words(values_of(new, language), values_of(old, language))
    assert subject_of_both(old, shared) == subject


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("english", "Our budget is 12,000 dollars.", "My salary goes up to 78,400 dollars."),
        ("english", "Lunch with Anna is on Tuesday at the pier.", "Lunch with Ben is on Friday at the pier."),
        ("english", "I ran 5 miles on the beach.", "I ran 8 miles on the beach yesterday."),
        ("english", "The project has 3 phases.", "There are 12 people in the project."),
        ("german", "Das Mittagessen kostet 3,90.", "Das Mittagessen kostet 3,9 Euro."),
        ("english", "The marathon is 42.2 km.", "The marathon is 42 km."),
        ("english", "The boiler pressure is 1.85.", "The boiler serial is 40966."),
        ("english", "The bike has an F150 tyre.", "The bike costs 450."),
        ("english", "The laptop has an i7-13700.", "The laptop pin is 4711."),
        ("english", "The piano tuner's number is 555-123-4567.", "The piano tuner comes on 24-12-2025."),
        ("spanish", "El técnico de la caldera viene el 24-12-2025.", "La caldera tiene el código 4711."),
        ("chinese", "小区车位有300个。", "小区车位一个月350块。"),
        ("chinese", "钢琴课有12个人。", "钢琴课上了5个月。"),
        ("chinese", "钢琴课每天30分钟。", "钢琴课12分。"),
        ("english", "The alarm at work is 4471.", "The alarm at home is 8080."),
        ("english", "We bought the house in 1997.", "The house needs 2000 bricks."),
        ("english", "The ferry leaves at 7:40 am.", "The ferry costs 12 euro."),
        ("english", "We rehearse on Mondays in the hall.", "We rehearse on Mondays at 20:00 in the hall."),
        ("english", "We rehearse on Mondays at 20:00 in the hall.", "We rehearse in the hall on Mondays at 8 pm."),
        ("english", "The rent of the garage is 80 euro.", "The garage cost us 90000 euro."),
        ("german", "Die Wohnung hat 3 Zimmer.", "Die Wohnung hat 80 Quadratmeter."),
        ("german", "Wir gehen am 15. November online.", "Der Zahnarzt sieht mich am 19. November."),
    ],
)
def test_no_other_value_of_one_thing(language: str, old: str, new: str) -> None:
    assert not is_replaced(old, new, language)


def test_a_change_may_name_the_old_value_as_well() -> None:
    old, new = "Tuesdays I have cricket nets.", "I had Tuesdays for cricket, but it was put on a Thursday."
    assert is_replaced(old, new, "english", tells=True)
    assert not is_replaced(old, new, "english")


def test_a_german_place_is_no_thing_that_two_sentences_are_about() -> None:
    lead, move = "Ab 1. April leite ich die Filiale in Lübeck.", "Am 22. März ziehen wir nach Lübeck."
    assert not is_replaced(lead, move, "german")
    assert is_replaced("Die Töpferrunde in Lübeck ist am 3. Mai.", "Die Töpferrunde in Lübeck ist am 5. Mai.", "german")
    assert is_replaced("Die Filiale öffnet am 3. Mai.", "Die Filiale in Lübeck öffnet am 5. Mai.", "german")


@pytest.mark.parametrize(
    ("language", "said", "numbers", "codes"),
    [
        ("english", "The report of 2026-03-04 is v1.2 on 10-0-0-1, call 555-123-4567", {}, {"10-0-0-1"}),
        ("english", "Q3-2025 and may-2026, an F150, an rtx4090, iso9001, chf1200", {}, set()),
        ("english", "The permit is SH-31187 and the tyre 3,90", {"": {"3.9"}}, {"sh-31187"}),
        ("chinese", "搬家定在3月22日，我2019年买的", {}, set()),
        ("chinese", "房租涨到3千，车位1.5万块，住18楼", {"": {"3000"}, "money": {"15000"}, "楼": {"18"}}, set()),
        ("chinese", "价格100—200元，2019到2021", {}, set()),
        ("chinese", "房子卖了350万块，另一套1.234万", {"money": {"3500000"}, "": {"12340"}}, set()),
        ("chinese", "一共1.234.567万", {"": {"12345670000"}}, set()),
        ("chinese", "工资3000人民币，学了30分钟，考了85分", {"money": {"3000"}, "分钟": {"30"}, "分": {"85"}}, set()),
    ],
)
def test_what_is_an_amount_and_what_is_a_code(
    language: str, said: str, numbers: dict[str, set[str]], codes: set[str]
) -> None:
    found = values_of(said, language)
    assert ({unit: set(each) for unit, each in found.numbers.items()}, set(found.codes)) == (numbers, codes)
