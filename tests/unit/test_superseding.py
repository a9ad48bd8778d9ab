"""What a later statement closes, what contradicts, and what it leaves alone."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import Change, Utterance

START = datetime(2026, 1, 5, tzinfo=UTC)


def facts_of(said: Sequence[str], language: str = "english") -> list[TimedFact]:
    """The facts of sentences, each said a week after the one before it."""
    utterances = [Utterance(text, START + timedelta(days=7 * week)) for week, text in enumerate(said)]
    return [
        TimedFact(
            number, fact.subject, fact.predicate, fact.object, fact.text, fact.said_at, fact.is_functional, fact.change,
            fact.about_user,
        )
        for number, fact in enumerate(read_facts(utterances, language))
    ]  # fmt: skip


def closed(said: Sequence[str], language: str = "english") -> list[str]:
    """The texts of the facts that are closed."""
    facts = facts_of(said, language)
    return sorted({facts[closure.old].text for closure in resolve(facts).closures})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Leeds.", "I moved to York last week."),
        ("I live in Leeds.", "I no longer live in Leeds."),
        ("I work at Northside.", "I've joined Harbour Care."),
        ("My boss is Bruno.", "My new boss is Petra Lindqvist."),
        ("I report to Bruno.", "I report to Petra now."),
        ("My favourite tea is oolong.", "My favourite tea is sencha."),
        ("The dentist appointment is on Tuesday at 3pm.", "The dentist appointment has been moved to Friday at 9am."),
        ("The Thursday meeting with Bob is at 10:00.", "The Thursday meeting with Bob is cancelled."),
        ("The spare token is in the blue cash box at the office.", "The spare token is at home now, in my desk."),
        ("I drink coffee every morning.", "I don't drink coffee any more."),
        ("Orion runs on Postgres.", "We switched from Postgres to SQLite for Orion."),
        ("The spare key is under the blue pot.", "The spare key is behind the shed now."),
        ("My phone number is 0171 555 23.", "My phone number is 0171 555 99."),
        ("I prefer tea to coffee.", "I prefer coffee to tea."),
        ("My boss is Bruno.", "Bruno isn't my boss any more."),
        ("My boss is Bruno.", "Bruno is no longer my boss."),
        ("I report to Bruno.", "Bruno was promoted, so Petra is our team lead now."),
        ("My team lead is Bruno.", "Bruno left."),
    ],
)
def test_a_later_statement_closes_the_earlier_one(old: str, new: str) -> None:
    assert closed([old, new]) == [old]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in Leeds.", "My sister Ada lives in York."),
        ("I live in Leeds.", "I might move to York next year."),
        ("I live in Leeds.", "Should I move to York?"),
        ("I live in Leeds.", "If I moved to York, I would miss the sea."),
        ("My favourite tea is oolong.", "My favourite coffee is espresso."),
        ("I like jazz.", "I also like blues."),
        ("I speak German.", "I speak Spanish."),
        ("My work phone number is 0171 555 23.", "My private phone number is 0171 555 99."),
        ("The Monday meeting is at 10:00.", "The Thursday meeting is at 11:00."),
        ("I live in Leeds.", "I live in Leeds, near the station."),
        ("My cousin Anna lives in Kiel.", "Anna from work lives in Bonn."),
        ("I report to Bruno.", "Petra is our team lead now, she reports to Bruno."),
    ],
)
def test_what_is_about_something_else_closes_nothing(first: str, second: str) -> None:
    assert closed([first, second]) == []


def test_where_one_worked_ends_with_the_employer() -> None:
    said = ["I work as a designer at Rautenberg Print in Derby.", "I work as a developer at Nordlight Software."]
    assert closed(said) == ["I work as a designer at Rautenberg Print in Derby."]
    facts = facts_of(said)
    over = {facts[closure.old].predicate for closure in resolve(facts).closures}
    assert over == {"works_at", "works_as", "works_in"}


def test_old_talk_that_arrives_late_is_closed_by_what_was_said_since() -> None:
    facts = facts_of(["I live in Leeds.", "I moved to York.", "I moved to Oslo."])
    expected = resolve(facts)
    for seed in range(5):
        shuffled = list(facts)
        random.Random(seed).shuffle(shuffled)
        assert resolve(shuffled) == expected
    assert [(closure.old, closure.new) for closure in expected.closures] == [(0, 1), (1, 2)]
    assert expected.closures[0].at == facts[1].at


def test_an_attitude_that_turns_without_a_word_of_change_stands_in_doubt() -> None:
    facts = facts_of(["I love coriander.", "I hate coriander."])
    resolution = resolve(facts)
    assert resolution.closures == ()
    assert [(pair.a, pair.b) for pair in resolution.contradictions] == [(0, 1)]


def test_a_guess_ends_nothing_else_of_its_conversation() -> None:
    def lives_in(number: int, place: str, minutes: int, cue: str | None) -> TimedFact:
        change = Change("replaces", cue) if cue is not None else None
        said_at = START + timedelta(minutes=minutes)
        return TimedFact(number, "user", "lives_in", place, f"{place} it is.", said_at, True, change, True)

    old, new = lives_in(0, "Derby", 0, None), lives_in(1, "Leeds", 5_000, "likely")
    for later, closed_too in ((5_002, set()), (9_000, {1})):
        guess = lives_in(2, "Bay 118", later, "guessed")
        assert {closure.old for closure in resolve([old, new, guess]).closures} == {0} | closed_too


def test_what_a_person_closed_closes_nothing() -> None:
    first, second = facts_of(["I live in Leeds.", "I moved to York."])
    assert (
        resolve(
            [first, TimedFact(1, "user", "lives_in", "York", second.text, second.at, True, is_closed=True)]
        ).closures
        == ()
    )


def test_five_thousand_facts_take_about_a_second() -> None:
    facts = [
        TimedFact(
            number, "user" if number % 3 else f"project {number % 40}", ("likes", "uses", "lives_in")[number % 3],
            f"thing {number % 700} of {number % 31}", f"I use the thing {number % 700} of {number % 31} now",
            START + timedelta(minutes=number), number % 3 == 2,
        )
        for number in range(5000)
    ]  # fmt: skip
    began = time.process_time()
    resolve(facts)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("german", "Ich wohne in Bremen.", "Ich bin nach Kiel gezogen."),
        ("german", "Meine Chefin ist Eva Brandt.", "Mein neuer Chef ist Jonas Meier."),
        ("german", "Ich trinke morgens Kaffee.", "Ich trinke keinen Kaffee mehr."),
        ("german", "Der Zahnarzttermin ist am Dienstag um 10 Uhr.", "Der Zahnarzttermin wurde auf Freitag verschoben."),
        ("spanish", "Vivo en Sevilla.", "Me mudé a Granada."),
        ("spanish", "Mi jefe es Bruno Díaz.", "Mi nueva jefa es Petra Lindqvist."),
        ("spanish", "Trabajo en Northside.", "Ya no trabajo en Northside."),
        ("chinese", "我住在北京。", "我搬到了上海。"),
        ("chinese", "我的老板是李明。", "我的新老板是王强。"),
        ("chinese", "我每天喝咖啡。", "我不喝咖啡了。"),
    ],
)
def test_a_later_statement_closes_the_earlier_one_in_other_languages(language: str, old: str, new: str) -> None:
    assert closed([old, new], language) == [old]


@pytest.mark.parametrize(
    ("said", "new", "named"),
    [
        ("One of these days I paint it, the fabric is moss.", "The van permit is SH-31187 now.", "one you had"),
        ("Die alten Fliesen sind aus Lehm.", "Der Ausweis ist jetzt SH-31187.", "den alten"),
    ],
)
def test_what_takes_the_place_of_the_one_you_had_closes_nothing_else(said: str, new: str, named: str) -> None:
    older = TimedFact(1, "user", "says", said, said, START)
    change = Change("replaces", "in place of", named)
    newer = TimedFact(2, "permit", "is", "SH-31187", new, START + timedelta(days=3), True, change)
    assert not resolve([older, newer]).closures


@pytest.mark.parametrize(("named", "closed"), [(None, {1}), ("…", set())])
def test_what_takes_the_place_of_something_forgotten_takes_that_of_nothing_else(
    named: str | None, closed: set[int]
) -> None:
    older = TimedFact(1, "user", "drinks", "coffee for breakfast", "I drink coffee for breakfast.", START)
    change = Change("replaces", "instead", named)
    text = "I drink tea for breakfast instead."
    newer = TimedFact(2, "user", "drinks", "tea for breakfast", text, START + timedelta(days=3), False, change)
    assert {closure.old for closure in resolve([older, newer]).closures} == closed


ALARM = "The alarm is in the hall and the code is 4471."


@pytest.mark.parametrize(
    ("language", "old", "new", "closes"),
    [
        ("english", ALARM, "The shed has a new lock, and the code is 8812.", False),
        ("english", "I've got a new locker. The code is 4471.", "We rented a shed. The code is 5512.", False),
        ("english", "My dentist is Dr Kern and the number is 7788.", "The plumber is Voss and the number is 1.", False),
        ("german", "Der Arzt heißt Kern und die Nummer ist 7788.", "Der Koch heißt Voss und die Nummer ist 1.", False),
        ("chinese", "门在后面，密码是4471。", "柜子在楼上，密码是5512。", False),
        ("english", ALARM, "The alarm code is 8812 now.", True),
        ("english", ALARM, "The code is 8812 now.", True),
        (
            "english",
            "The Wi-Fi here is called Stove and the password is oak-9.",
            "The Wi-Fi password is elm-2 now.",
            True,
        ),
        ("english", "I've got a new locker at the gym. The code is 4471.", "The locker code is 8812 now.", True),
        ("english", "The gate's round the back. The code's 5512.", "The gate code is 7781 now.", True),
        ("english", "The gate's round the back. The code is 5512.", "The shed code is 7781 now.", False),
        ("english", "The gate's round the back, and the code is 5512.", "We use it a lot. The code is 7781.", False),
        (
            "english",
            "We've got a locker at the gym. The code is 4471.",
            "We've got one at work. The code is 5512.",
            False,
        ),
        ("english", "The code is 4471.", "My brother called. The code is 5512 now.", True),
        ("chinese", "公司有个柜子。密码是4471。", "我在健身房租了个柜子。密码是5512。", False),
        ("english", "The alarm code's 4471.", "The alarm has a new code: 8812.", True),
        (
            "german",
            "Ich hab ein neues Schließfach. Die Zahl ist 24-8.",
            "Die Zahl vom Schließfach ist jetzt 11-2.",
            True,
        ),
        ("german", "Der Code der Alarmanlage ist 4471.", "Die Alarmanlage hat jetzt den Code 8812.", True),
        ("german", "Der Code ist 4471.", "Der Code hat sich geändert: 5512.", True),
        ("german", "Der Alarmcode ist 4471.", "Den Alarmcode haben sie geändert, er ist jetzt 5512.", True),
        ("spanish", "Tengo una taquilla nueva. La clave es 24-8.", "La clave de la taquilla ahora es 11-2.", True),
        ("spanish", "El código de la alarma es 4471.", "La alarma tiene código nuevo: 8812.", True),
        ("chinese", "我换了个新的储物柜。密码是4471。", "储物柜的密码现在是8812。", True),
    ],
)
def test_a_code_ends_the_code_of_the_same_thing_alone(language: str, old: str, new: str, *, closes: bool) -> None:
    facts = facts_of([old, new], language)
    assert bool(resolve(facts).closures) == closes


@pytest.mark.parametrize(
    ("language", "old", "new", "over"),
    [
        (
            "german",
            "Mein Rad geht mit 2714 auf, der Kasten an Mamas Haus geht mit 5830 auf.",
            "Mein Rad geht jetzt mit 6049 auf.",
            ["2714"],
        ),
        (
            "english",
            "The bike lock opens with 2714 and the key box opens with 5830.",
            "The bike lock opens with 6049 now.",
            ["2714"],
        ),
        ("spanish", "La verja se abre con 2714.", "La verja se abre ahora con el 6049.", ["2714"]),
        (
            "english",
            "I do pottery on Wednesday evenings.",
            "My pottery class has moved to Mondays.",
            ["do pottery on Wednesday evenings"],
        ),
        ("english", "I do pottery on Wednesday evenings.", "My dance class has moved to Mondays.", []),
        ("english", "I do pottery at home.", "My pottery class has moved to Mondays.", []),
        ("english", "I do yoga at home on Sundays.", "The yoga class has moved to Fridays.", []),
        ("english", "I play football on Mondays.", "The football training of my son has moved to Fridays.", []),
        ("german", "Die Reise geht mit Ryanair.", "Die Reise geht jetzt mit Lufthansa.", []),
    ],
)
def test_what_opens_with_another_number_or_is_taught_on_another_day_ends_that_alone(
    language: str, old: str, new: str, over: list[str]
) -> None:
    facts = facts_of([old, new], language)
    assert [facts[closure.old].object for closure in resolve(facts).closures] == over


@pytest.mark.parametrize(
    ("language", "old", "new", "over"),
    [
        (
            "english",
            "I've got a Fiat 500 from 2012.",
            "I collected my Yaris last night, it's a 2016 one.",
            ["Fiat 500"],
        ),
        ("english", "I've got a Skoda Fabia.", "I've bought a Polo shirt for Tom.", []),
        (
            "german",
            "Ich hab einen alten Corsa.",
            "Ich hab gestern den gebrauchten Fabia vom Nachbarn gekauft.",
            ["Corsa"],
        ),
        ("german", "Ich fahre einen Corsa.", "Ich habe einen Golf-Kurs gebucht.", []),
        (
            "german",
            "Mein Chef, der Wolfgang Ritter, ruft an.",
            "Meine Vorgesetzte ist die Katrin Mahler.",
            ["Wolfgang Ritter"],
        ),
        (
            "german",
            "Ich arbeite bei der Kanzlei Bornemann.",
            "Ab nächstem Montag bin ich bei Lorenz & Thiel, das ist eine größere Kanzlei.",
            ["Kanzlei Bornemann"],
        ),
        ("german", "Ich arbeite bei der Kanzlei Bornemann.", "Ab Montag bin ich bei Lisa, die hat Geburtstag.", []),
        (
            "spanish",
            "Doy clase en el colegio San Roque.",
            "Desde el lunes 24 estoy en el IES Joanot Martorell, con una vacante.",
            ["colegio San Roque"],
        ),
        (
            "spanish",
            "Mi hermana Lucía trabaja en el hospital de Castellón.",
            "A Lucía le han dado el traslado al hospital de Sagunto.",
            ["hospital de Castellón"],
        ),
        ("spanish", "Conduzco un Ibiza.", "Esta mañana he recogido un Yaris híbrido, de segunda mano.", ["Ibiza"]),
        ("spanish", "Conduzco un Ibiza.", "He comprado un Polo de Lacoste.", []),
        ("chinese", "我住在沙河。", "我和许衡一起租在玉林，两室一厅。", ["沙河"]),
        ("chinese", "我的手机是华为P40。", "我昨晚入手了小米15。", ["华为P40"]),
    ],
)
def test_who_gets_another_one_in_everyday_words_has_the_old_one_no_more(
    language: str, old: str, new: str, over: list[str]
) -> None:
    facts = facts_of([old, new], language)
    assert [facts[closure.old].object for closure in resolve(facts).closures] == over


@pytest.mark.parametrize(
    ("new", "over"),
    [
        ("I've joined Harbour Care.", ["I work at Northside.", "My boss is Bruno."]),
        ("I've joined Harbour Care with Bruno.", ["I work at Northside."]),
    ],
)
def test_the_boss_goes_with_the_employer(new: str, over: list[str]) -> None:
    assert closed(["I work at Northside.", "My boss is Bruno.", new]) == over


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        # The code of a thing at home, in whatever order its words stand.
        ("english", "Our wifi is called Otter and the password is plum88tree.", "The wifi password is pear31moss now."),
        (
            "german",
            "Unser WLAN heißt Biber und das Passwort ist Hagebutte9.",
            "Mein WLAN-Passwort daheim ist Dachs771.",
        ),
        ("german", "Das WLAN heißt Biber, Passwort ist Hagebutte9.", "Das neue WLAN-Passwort ist Dachs771."),
        ("spanish", "Nuestro wifi se llama Nutria, la clave es mango2020.", "La nueva clave del wifi es papaya31."),
        ("chinese", "WiFi叫水獭，密码是 abc12345", "WiFi 密码现在是 qwe98765"),
        ("chinese", "屋头大门密码是 310245", "大门也是新的，旧码不要了，新大门密码 664120，换成这个存"),
        ("chinese", "我家门锁密码是2233", "新门锁密码 4455"),
        # What takes place each week.
        ("german", "Dienstag ist bei mir immer Chorprobe.", "Der Chor probt jetzt am Donnerstag."),
        ("english", "Tuesday is band practice for us.", "The band rehearses on Thursdays now."),
        ("spanish", "Los martes tengo coro.", "El coro ensaya ahora los jueves."),
        ("chinese", "每周二是合唱团排练", "合唱团改到周四了"),
        ("chinese", "我每周三打麻将", "麻将改到周五打了"),
        # A day off.
        ("english", "I have Mondays off.", "I'm off on Sundays now."),
        ("german", "Ich hab montags frei.", "Ich hab jetzt sonntags frei."),
        ("spanish", "Descanso los lunes.", "Ahora descanso los domingos."),
        ("chinese", "我自己是每周一休", "我现在是周日休"),
        # An exam, a trip.
        ("english", "My licence exam, the big one, is on June 9.", "I'm writing the exam on September 22 now."),
        (
            "german",
            "Meine Meisterprüfung, die praktische, ist am 9. Juni.",
            "Die Prüfung mach ich jetzt am 22. August.",
        ),
        ("spanish", "Mi examen de manejo, el práctico, es el 9 de junio.", "Ahora presento el examen el 22 de julio."),
        ("spanish", "En Semana Santa nos vamos para Cartagena.", "Lo de Cartagena lo corrimos para junio."),
        # A dose.
        ("english", "Mum is on donepezil, 5mg at night.", "She's put Mum's donepezil up to 10mg."),
        ("english", "I take ramipril 5 mg.", "My ramipril is 10 mg now."),
        ("german", "Ich nehme Ramipril 5 mg.", "Mein Ramipril ist jetzt auf 10 mg."),
        ("spanish", "Tomo losartán de 50 mg.", "Me subieron el losartán a 100 mg."),
        ("chinese", "我每天吃二甲双胍500毫克", "二甲双胍加到1000毫克了"),
        # A boss, a loved one, a town, a vice.
        ("chinese", "我老板是周姐", "现在的老板谭总人还可以"),
        ("english", "My girlfriend is Mia.", "We broke up on Tuesday."),
        ("english", "My girlfriend is Mia.", "Me and Mia are done."),
        ("chinese", "我女朋友叫小雨", "我们周二分手了"),
        ("english", "My brother Ayo lives in London.", "Ayo's left London, he lives in Leeds now."),
        ("chinese", "烟已经一天一包了", "烟我戒了"),
    ],
)
def test_the_new_one_ends_the_old_one_in_other_words(language: str, old: str, new: str) -> None:
    facts = facts_of([old, new], language)
    ended = {closure.old for closure in resolve(facts).closures}
    assert any(fact.fact_id in ended for fact in facts if fact.at == START)
    assert not any(fact.fact_id in ended for fact in facts if fact.at != START)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        # A place of a kind is no other employer.
        ("english", ["I work at Maplecrest.", "I work in a lab, so mind the gloves."]),
        ("german", ["Ich arbeite bei Bosch.", "Ich arbeite in einem Labor."]),
        ("spanish", ["Trabajo en Bancolombia.", "Trabajo en un banco."]),
        ("chinese", ["我在华为上班", "我在一家科技公司上班"]),
        # Another thing, another number of one person.
        ("english", ["The wifi password at the office is plum88tree.", "The wifi password at home is pear31moss."]),
        ("german", ["Das WLAN-Passwort im Büro ist Hagebutte9.", "Mein WLAN-Passwort daheim ist Dachs771."]),
        ("english", ["My phone number is 0171 555 23.", "My phone number at home is 030 44 55."]),
        ("chinese", ["公司门锁密码是2233", "家里门锁密码是4455"]),
        ("german", ["Die Chorprobe ist am Dienstag.", "Der Elternabend ist am Donnerstag."]),
        ("english", ["My driving test is on July 15.", "I'm writing the chemistry exam on September 22 now."]),
        ("english", ["I take ramipril 5 mg.", "My metformin is 500 mg now."]),
        # Who has left a town is one's brother as before.
        ("english", ["Ayo is my brother.", "Ayo's left London."]),
    ],
)
def test_what_is_of_something_else_ends_nothing(language: str, said: Sequence[str]) -> None:
    assert closed(said, language) == []


@pytest.mark.parametrize(
    ("full", "given"),
    [("我哥罗大鸿在深圳电子厂上班", "我哥大鸿换到东莞去了"), ("我妹林小雨在上海上班", "我妹小雨换到杭州去了")],
)
def test_a_chinese_name_without_the_surname_is_the_same_one(full: str, given: str) -> None:
    facts = facts_of([full, given], "chinese")
    ended = {closure.old for closure in resolve(facts).closures}
    assert any(fact.predicate.startswith("works") and fact.fact_id in ended for fact in facts)
    assert len({fact.object for fact in facts if fact.subject == "user"}) == 1


@pytest.mark.parametrize(
    ("language", "old", "new"),
    [
        ("german", "Ich wohne in Brühl.", "Ich wohne in Altbrühl."),
        ("english", "I live in Leeds.", "I live on toast and jam these days."),
    ],
)
def test_a_part_of_a_town_and_what_one_lives_on_are_no_other_home(language: str, old: str, new: str) -> None:
    assert closed([old, new], language) == []


def test_who_begins_at_an_hour_has_no_other_employer() -> None:
    assert closed(["I work at Holm Boats.", "I start at nine now."]) == []
