"""A sofa is no home and a desk no employer: what only sounds like a change takes no fact away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import StatedFact, Utterance

START = datetime(2026, 1, 5, tzinfo=UTC)
HOMES = {
    "english": "I live in Leeds.",
    "german": "Ich wohne in Köln.",
    "spanish": "Vivo en Vigo.",
    "chinese": "我住在杭州。",
}
JOBS = {
    "english": "I work at Tesco.",
    "german": "Ich arbeite bei Bosch.",
    "spanish": "Trabajo en Zara.",
    "chinese": "我在华为工作。",
}


def facts_of(said: str, at: datetime, language: str) -> list[StatedFact]:
    return read_facts([Utterance(said, at)], language)


def closed(old: str, new: str, language: str) -> list[str]:
    """The texts of the facts that a sentence of another day closes."""
    found = [*facts_of(old, START, language), *facts_of(new, START + timedelta(days=7), language)]
    facts = [
        TimedFact(n, f.subject, f.predicate, f.object, f.text, f.said_at, f.is_functional, f.change, f.about_user)
        for n, f in enumerate(found)
    ]
    return sorted({facts[closure.old].text for closure in resolve(facts).closures})


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "i moved to the sofa cos of his snoring"),
        ("english", "I moved to Gmail."),
        ("english", "We moved to Slack at work."),
        ("english", "i finally moved to linux"),
        ("english", "i moved to a new phone"),
        ("english", "i moved to another team"),
        ("english", "I live in my car basically lol"),
        ("english", "i live in fear lol"),
        ("english", "i live in my hoodie"),
        ("german", "ich wohne im büro gefühlt"),
        ("german", "ich bin ins gästezimmer umgezogen"),
        ("german", "Ich bin ins Gästezimmer umgezogen."),
        ("german", "Ich bin nach Linux umgezogen."),
        ("spanish", "vivo en una nube"),
        ("spanish", "me mudé a android"),
        ("spanish", "Me mudé a Android."),
        ("spanish", "vivo en el gimnasio jaja"),
        ("chinese", "我搬到沙发上睡了"),
        ("chinese", "我住在公司了哈哈"),
        ("chinese", "我搬到客房了"),
    ],
)
def test_what_is_no_home_ends_none(language: str, said: str) -> None:
    assert [f for f in facts_of(said, START, language) if f.predicate == "lives_in"] == []
    assert closed(HOMES[language], said, language) == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "i moved to york"),
        ("english", "I moved to Paradise."),
        ("english", "I moved to Bath."),
        ("english", "I moved to Mesa."),
        ("english", "I moved to the Netherlands."),
        ("english", "i moved to the hague"),
        ("english", "I moved to a small village in Kent."),
        ("english", "I live on Office Lane."),
        ("english", "i moved to my parents' house"),
        ("english", "i moved to a tiny house in devon"),
        ("german", "Ich bin nach Bonn gezogen."),
        ("german", "Ich bin in die Schweiz gezogen."),
        ("german", "ich wohne in der südstadt"),
        ("spanish", "vivo en la coruña"),
        ("spanish", "vivo en la paz"),
        ("spanish", "Me mudé a un pueblo de Lugo."),
        ("chinese", "我搬到上海了"),
        ("chinese", "我搬到公司附近了"),
    ],
)
def test_another_home_ends_the_one_before(language: str, said: str) -> None:
    assert [text.strip(".。") for text in closed(HOMES[language], said, language)] == [HOMES[language].strip(".。")]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "i work at my desk mostly"),
        ("english", "i work at the weekend"),
        ("english", "i work with kids"),
        ("english", "I now work with Anna."),
        ("english", "I'm working with Anna now."),
        ("english", "i now work at home on fridays"),
        ("english", "i work for free basically lol"),
        ("english", "i work for hours"),
        ("german", "Ich arbeite am Schreibtisch."),
        ("german", "Ich arbeite am Wochenende."),
        ("german", "Ich arbeite an Prüfungen."),
        ("german", "Ich arbeite bei Regen."),
        ("german", "Ich arbeite für Geld."),
        ("spanish", "trabajo en casa los viernes"),
        ("spanish", "trabajo en mi tesis"),
        ("spanish", "trabajo con niños"),
        ("spanish", "Ahora trabajo con Ana."),
        ("chinese", "我在电脑前工作"),
    ],
)
def test_what_is_no_employer_ends_none(language: str, said: str) -> None:
    assert [f for f in facts_of(said, START, language) if f.predicate == "works_at"] == []
    assert closed(JOBS[language], said, language) == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "i work at aldi"),
        ("english", "I work at Home Depot."),
        ("english", "I work at First Direct."),
        ("english", "i work at my uncle's shop"),
        ("english", "i work at food lion"),
        ("english", "I work at the hospital."),
        ("english", "I work for the council."),
        ("english", "I work at Slack."),
        ("english", "I got a job with Barclays."),
        ("german", "Ich arbeite bei Siemens."),
        ("german", "Ich arbeite an der Uni."),
        ("spanish", "Trabajo en Mercadona."),
        ("spanish", "Trabajo en la Casa Batlló."),
        ("chinese", "我在前端公司工作"),
    ],
)
def test_another_employer_ends_the_one_before(language: str, said: str) -> None:
    assert [text.strip(".。") for text in closed(JOBS[language], said, language)] == [JOBS[language].strip(".。")]


@pytest.mark.parametrize(
    ("language", "said", "place"),
    [
        ("english", "I run a bakery in Leeds with my wife.", ("lives_in", "Leeds")),
        ("english", "I'm Kim Hall, I'm 39 and I run a small printing firm in Hull.", ("lives_in", "Hull")),
        ("english", "I run a workshop in October.", None),
        ("english", "I run a shop in my spare time.", None),
        ("german", "Ich bin Jonas, 41, Tischler aus Bremen.", ("from", "Bremen")),
        ("german", "Ich bin Köchin aus Linz und brauche einen Plan.", ("from", "Linz")),
        ("german", "Ich bin Vegetarierin aus Überzeugung.", None),
        ("german", "Ich bin raus aus Kassel.", None),
        ("chinese", "我叫李敏，28，在苏州，在药厂做质检", ("lives_in", "苏州")),
        ("chinese", "我叫李敏，28，在读博，在写论文", None),
        ("chinese", "我叫李敏，28，在医院，在做检查", None),
    ],
)
def test_where_somebody_is_from_who_introduces_themselves(
    language: str, said: str, place: tuple[str, str] | None
) -> None:
    found = [(fact.predicate, fact.object) for fact in facts_of(said, START, language)]
    assert [each for each in found if each[0] in ("lives_in", "from")] == ([] if place is None else [place])
