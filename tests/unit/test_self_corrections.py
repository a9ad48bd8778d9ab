"""What people take back as they chat: what they then meant holds, and what only looks so changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.extraction.basis import Basis, FileSnapshot
from reverie_server.extraction.propose import heuristic_proposal
from reverie_server.extraction.text import ExtractionRules
from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.extract import notes_of, summarise
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.stated_fact import StatedFact, Utterance
from reverie_server.sessions.model import Message, Role

AT = datetime(2026, 4, 3, 9, tzinfo=UTC)
# The language; the messages, those of the assistant behind `> `; the object that holds; the one that does not.
CORRECTED = [
    ("english", ["Anil is an anaesthetist. Oh, what am I saying, a radiologist."], "radiologist", "anaesthetist"),
    ("english", ["My flight is on the 14th - no, sorry, the 15th."], "15th", "14th"),
    ("english", ["My flight is on the 14th. No wait, it's the 15th"], "15th", "14th"),
    ("english", ["my dentist appointment is on tuesday.. sorry, wednesday"], "wednesday", "tuesday"),
    ("english", ["My flight leaves at 6:40. Oops, 7:40 I mean"], "7:40", "6:40"),
    ("english", ["I live in Leeds. Scratch that. Bradford."], "Bradford", "Leeds"),
    ("english", ["i live in leeds no wait bradford"], "bradford", "leeds"),
    ("english", ["My sister's name is Petra. Ugh, sorry, I mean Paula."], "Paula", "Petra"),
    ("english", ["I work as a nurse, I mean a midwife, at the moment."], "midwife", "nurse"),
    ("english", ["My locker code is 4411", "> Got it, I'll keep that.", "*4412"], "4412", "4411"),
    ("english", ["My shoe size is 39, actually 40"], "40", "39"),
    ("english", ["My brother is 34. Haha no, 35, sorry"], "35", "34"),
    ("english", ["The rent is $900. Correction: $950"], "950", "900"),
    ("english", ["The exam is on May 12. My bad, May 13."], "May 13", "May 12"),
    ("english", ["My boss is called Karen Whitfield", "> Thanks!", "Oh no wait, Carol Whitfield"], "Carol", "Karen"),
    ("english", ["I work at Siemens (er, no, Bosch) in Munich."], "Bosch", "Siemens"),
    ("english", ["The workshop is on Friday, oh shit no, on Saturday, and I need a room"], "Saturday", "Friday"),
    ("german", ["Ich wohne in Köln, äh, Quatsch, in Bonn."], "Bonn", "Köln"),
    ("german", ["Mein Flug ist am 14. Nein, sorry, am 15."], "15", "14"),
    ("german", ["Mein Zahnarzttermin ist am Dienstag. Ach Quatsch, Mittwoch"], "Mittwoch", "Dienstag"),
    ("german", ["Ich bin Lehrerin. Unsinn, Erzieherin."], "Erzieherin", "Lehrerin"),
    ("german", ["Der Zug fährt um 8:15 Uhr, sorry, 8:45 Uhr"], "8:45", "8:15"),
    ("german", ["Meine Schwester heißt Petra. Was sag ich, Paula!"], "Paula", "Petra"),
    ("german", ["Meine Schuhgröße ist 39, nee, 40"], "40", "39"),
    ("german", ["Ich arbeite bei Siemens - falsch, bei Bosch."], "Bosch", "Siemens"),
    ("german", ["ich wohne in köln, ne moment, in bonn"], "bonn", "köln"),
    ("german", ["Die Miete beträgt 900 Euro. Korrektur: 950 Euro."], "950", "900"),
    ("german", ["Mein Spindcode ist 4411", "> Alles klar, gemerkt.", "Tippfehler, 4412"], "4412", "4411"),
    ("german", ["Die Prüfung ist am 12. Mai. Ups, am 13. Mai."], "13. Mai", "12. Mai"),
    ("german", ["Mein Chef heißt Jürgen Wolf", "> Danke!", "ach nein, sorry, Jörg Wolf"], "Jörg", "Jürgen"),
    ("german", ["Das Training ist am Donnerstag ... Entschuldigung, Freitag meine ich"], "Freitag", "Donnerstag"),
    ("german", ["Ich komme aus Bremen. Stimmt gar nicht, aus Hamburg."], "Hamburg", "Bremen"),
    ("english", ["my son is 4", "> How lovely!", "no, 5"], "5", "4"),
    (
        "english",
        ["the appointment is on april 22 at 4", "> Okay, noted.", "no wait it's the 23rd"],
        "april 23rd",
        "april 22",
    ),
    ("english", ["the meeting is on tuesday", "> ok", "no, not tuesday, wednesday"], "wednesday", "tuesday"),
    (
        "english",
        ["my inspection is on tuesday 14 at 9:30", "> ok", "sorry, wednesday 15"],
        "wednesday 15",
        "tuesday 14",
    ),
    (
        "english",
        ["parents evening is thursday the 22nd", "> Got it.", "moved to the 29th now apparently"],
        "29th",
        "22nd",
    ),
    ("english", ["parents evening is thursday the 22nd", "> Got it.", "no, the 29th"], "29th", "thursday"),
    ("english", ["the meeting is on monday", "it's been moved to tuesday"], "tuesday", "monday"),
    ("german", ["Der Zahnarzt ist am Dienstag um 10", "> Okay.", "verschoben auf Mittwoch"], "Mittwoch", "Dienstag"),
    (
        "spanish",
        ["tengo dentista el martes a las 5", "> Vale.", "me lo han cambiado al miércoles"],
        "miércoles",
        "martes",
    ),
    ("german", ["merk dir ich hab am dienstag um 5 zahnarzt", "> Okay.", "nein, am mittwoch"], "mittwoch", "dienstag"),
    (
        "german",
        ["der termin ist am 22. april um 16 uhr", "> Alles klar.", "ne warte, am 23."],
        "23. april",
        "22. april",
    ),
    (
        "german",
        ["das treffen ist am dienstag", "> Notiert.", "nein, nicht am dienstag, am mittwoch"],
        "mittwoch",
        "dienstag",
    ),
    ("german", ["am dienstag den 14. hab ich tüv", "> ok", "sorry, mittwoch den 15."], "den 15. hab", "den 14. hab"),
    (
        "spanish",
        ["recuerda que tengo dentista el martes a las 5", "> Vale.", "no, el miércoles"],
        "miércoles",
        "martes",
    ),
    ("spanish", ["tengo dentista el martes a las 5", "no, el martes no, el miércoles"], "miércoles", "martes"),
    (
        "spanish",
        ["recuerda que el martes 14 tengo itv", "> Vale.", "perdón, el miércoles 15"],
        "miércoles 15",
        "martes 14",
    ),
    ("spanish", ["la cita es el 22 de abril a las 4", "no espérate es el 23"], "23 de abril", "22 de abril"),
    ("spanish", ["la cita es el 22 de abril a las 4", "> ok", "uy no, es el 23"], "23 de abril", "22 de abril"),
    ("spanish", ["La cena es el martes. Perdón, el miércoles."], "miércoles", "martes"),
    ("spanish", ["Vivo en Sevilla, digo, en Cádiz"], "Cádiz", "Sevilla"),
    ("spanish", ["Mi vuelo es el 14 - no, perdón, el 15."], "15", "14"),
    ("spanish", ["Soy enfermera... perdón, maestra"], "maestra", "enfermera"),
    ("spanish", ["Mi hermana se llama Petra. Ay no, qué digo, Paula."], "Paula", "Petra"),
    ("spanish", ["Mi talla de zapato es 39, no, espera, 40"], "40", "39"),
    ("spanish", ["Trabajo en Iberia. Me equivoqué, en Vueling."], "Vueling", "Iberia"),
    ("spanish", ["vivo en sevilla, no perdón, en cádiz"], "cádiz", "sevilla"),
    ("spanish", ["El examen es el 12 de mayo. Ups, el 13 de mayo, perdón", "> Anotado"], "13 de mayo", "12 de mayo"),
    ("spanish", ["Mi cita con el dentista es el lunes. Corrijo: el jueves."], "jueves", "lunes"),
    ("spanish", ["El código de mi taquilla es 4411", "> Listo, lo guardo.", "*4412"], "4412", "4411"),
    ("spanish", ["Mi alquiler es de 900 euros, no, 950 euros"], "950", "900"),
    ("spanish", ["Mi jefe se llama Ramón Vidal", "> Entendido.", "No, perdón, Román Vidal"], "Román", "Ramón"),
    ("spanish", ["Soy de Bilbao. Digo, de Getxo"], "Getxo", "Bilbao"),
    ("spanish", ["La reunión es a las 5. Perdona, a las 6."], "6", "5"),
    ("chinese", ["我住在杭州，不对，是苏州。"], "苏州", "杭州"),
    ("chinese", ["我的航班是14号。说错了，15号。"], "15号", "14号"),
    ("chinese", ["我叫小明。不对，说错了，小红。"], "小红", "小明"),
    ("chinese", ["会议是周二。抱歉，周三。"], "周三", "周二"),
    ("chinese", ["我是护士，啊不对，是医生。"], "医生", "护士"),
    ("chinese", ["我的柜子密码是4411", "> 好的，记住了。", "打错了，4412"], "4412", "4411"),
    ("chinese", ["我今年三十五岁，哦不，三十六岁"], "三十六", "三十五"),
    ("chinese", ["我住在海淀。口误，朝阳"], "朝阳", "海淀"),
    ("chinese", ["考试是5月12号，不好意思，5月13号"], "5月13号", "5月12号"),
    ("chinese", ["我妹妹叫小丽。瞧我这记性，小莉。"], "小莉", "小丽"),
    ("chinese", ["会议是周四，不是，周五"], "周五", "周四"),
    ("chinese", ["我在阿里工作，我是说，在腾讯"], "腾讯", "阿里"),
    ("chinese", ["我的房租是3000元。更正一下，3200元"], "3200", "3000"),
    ("chinese", ["培训时间是下午3点。等等不对，下午4点"], "下午4点", "下午3点"),
    ("chinese", ["我來自台南，不對，是高雄"], "高雄", "台南"),
    ("chinese", ["我下周二下午三点看牙医", "> 好", "不对，是周三"], "下周三下午三点", "周二"),
    ("chinese", ["我下周二下午三点看牙医", "> 好", "错了，是周三下午"], "下周三下午三点", "周二"),
    ("chinese", ["我下周二下午三点看牙医", "> 好", "不对，是周三上午十点"], "下周三上午十点", "周二"),
    ("chinese", ["会议是周五下午两点", "> 好", "改成三点了"], "周五下午三点", "两点"),
    ("chinese", ["会议是周五下午两点", "> 好的，记住了。", "改到周四了"], "周四下午两点", "周五"),
    ("chinese", ["会议是周二", "> 好", "不对，周三下午三点"], "周三下午三点", "周二"),
    ("chinese", ["停车码是8829#", "> 好", "错了，是8892#"], "8892#", "8829"),
    ("chinese", ["停车码是8829#", "> 好", "错了 是8892#"], "8892#", "8829"),
]
CORRECTED += [
    # A question may stand between them, and the sentence may be one that no pattern knows.
    ("english", ["My exam is on Monday. What should I bring? Sorry, on Tuesday."], "Tuesday", "Monday"),
    ("english", ["My exam is on Monday.", "> Good luck!", "No, sorry, it's on Tuesday."], "Tuesday", "Monday"),
    ("german", ["Die Prüfung ist am 12.", "> Gut.", "Nein, sorry, sie ist am 14."], "14", "12"),
    (
        "german",
        ["Der Kurs ist am Montag. Was bringe ich mit?", "> Brot.", "Nein, sorry, er ist am Freitag."],
        "Freitag",
        "Montag",
    ),
    ("spanish", ["La reunión es el lunes. ¿Qué llevo?", "> Papel.", "Perdón, no, es el martes."], "martes", "lunes"),
    (
        "english",
        ["Raj wants me to run the hospital job starting on Monday. Sorry, I meant Wednesday."],
        "Wednesday",
        "Monday",
    ),
    ("english", ["The groom is a guy called Tom. No wait, that's her ex."], "her ex", "guy called Tom"),
    ("english", ["My sister reads crime novels. Scratch that, she's into science fiction now."], "fiction", "crime"),
    ("german", ["Montags ist Training. Quatsch, dienstags und freitags ist Training."], "freitags", "Montags"),
    ("german", ["Mein Bruder wohnt in Bonn. Quatsch, er wohnt in Köln."], "Köln", "Bonn"),
    ("spanish", ["El novio se llama Tomás. No, espera, ese es su ex."], "su ex", "se llama Tomás"),
]
# The language; the messages; the object that holds as it was said; what nothing may say that holds.
UNCHANGED = [
    ("english", ["I live in Leeds.", "> So you're in Bradford?", "No, I live in Leeds."], "Leeds", "Bradford"),
    ("english", ["Sorry, I was late. I live in Rome"], "Rome", "late"),
    ("english", ["I live in Rome. I mean it."], "Rome", "it"),
    ("english", ["My flight is on the 14th. No, wait for me"], "14th", "me"),
    ("english", ["My flight is on the 14th", "> Shall I remind you on the 12th?", "No, the 13th"], "14th", "13th"),
    ("english", ["We have three dogs. Sorry, two minutes, someone's at the door"], "dogs", "two minutes"),
    ("english", ["I live in Rome. Sorry, Mom!"], "Rome", "Mom"),
    ("english", ["I live in London, actually in Hackney."], "London", "Hackney!"),
    ("english", ["My boss Petra lives in Bonn. Sorry, I mean Berta."], "Petra", "Berta"),
    ("english", ["I'm a teacher. Sorry, a bit slow today"], "teacher", "slow"),
    ("english", ["My train is at 6 on the 14th. oops, 15"], "14th", "15"),
    ("english", ["i live in rome. sorry, running late"], "rome", "late"),
    (
        "english",
        ["My exam is on Tuesday. Actually, Wednesday is my sister's birthday."],
        "Tuesday",
        "exam on Wednesday",
    ),
    ("english", ["I live in Leeds. I mean, it's great."], "Leeds", "great"),
    ("english", ["I live in Leeds. No, wait for me at the station."], "Leeds", "station"),
    ("english", ["My exam is on Monday. Is it on Tuesday? No."], "Monday", "Tuesday"),
    ("german", ["Ich wohne in Köln. Ich meine, es ist schön da."], "Köln", "schön"),
    ("english", ["I live in Leeds. No, really!"], "Leeds", "really"),
    ("english", ["My locker code is 4411. No problem if you forget it."], "4411", "problem"),
    ("english", ["I live in Rome. No, not in Milan."], "Rome", "Milan"),
    ("english", ["My sister lives in Leeds and I live in York. Sorry, I mean Hull."], "York", "Hull"),
    ("english", ["My flight is on the 14th. Wait, is it the 15th?"], "14th", "15th"),
    ("german", ["Ich wohne in Köln.", "> Also in Bonn?", "Nein, ich wohne in Köln."], "Köln", "Bonn"),
    ("german", ["Sorry, ich war im Stau. Ich wohne in Bonn."], "Bonn", "Stau"),
    ("german", ["Ich wohne in Köln. Sorry, Stau!"], "Köln", "Stau"),
    ("german", ["Ich wohne halt in Ehrenfeld."], "Ehrenfeld", "halt"),
    ("german", ["Mein Flug ist am 14.", "> Soll ich dich am 12. erinnern?", "Nein, am 13."], "14", "13"),
    ("german", ["Ich wohne in Köln. Quatsch keine Opern!"], "Köln", "Opern"),
    ("german", ["Ich meine es ernst. Ich bin Lehrerin."], "Lehrerin", "ernst"),
    ("german", ["Ich bin Lehrerin. Nein, wirklich."], "Lehrerin", "wirklich"),
    ("german", ["Meine Schwester Anna wohnt in Bonn. Sorry, Anne."], "Bonn", "Anne"),
    ("german", ["Die Prüfung ist am Dienstag. Moment, 5 Minuten"], "Dienstag", "5"),
    ("german", ["Ich wohne in Köln. Besser gesagt in Ehrenfeld."], "Köln", "Ehrenfeld"),
    ("german", ["Mein Spindcode ist 4411. Nein danke, mehr nicht."], "4411", "danke"),
    ("german", ["Ich arbeite bei Siemens. Entschuldigung, Feierabend!"], "Siemens", "Feierabend"),
    ("german", ["Die Prüfung ist am 14. um 8:15 Uhr. Sorry, 9"], "14", "9"),
    ("german", ["Ich wohne in Köln. Nein, nicht in Bonn."], "Köln", "Bonn"),
    ("german", ["Ich komme aus Bremen. Warte mal kurz."], "Bremen", "kurz"),
    ("english", ["the meeting is on tuesday", "> ok", "no thanks"], "tuesday", "thanks"),
    ("english", ["my son is 4", "> There are 3 good books for him.", "no, 5"], "4", "5"),
    ("english", ["the meeting is on tuesday", "> ok", "no, not thursday, wednesday"], "tuesday", "wednesday"),
    ("english", ["we have two cats", "> Nice!", "no, tomorrow"], "cats", "tomorrow"),
    ("german", ["das treffen ist am dienstag", "> Okay", "nein danke"], "dienstag", "danke"),
    ("spanish", ["la reunión es el martes", "no el jueves, el martes"], "martes", "jueves"),
    ("spanish", ["la reunión es el martes", "> ok", "no el jueves, el martes"], "martes", "jueves"),
    ("spanish", ["la reunión es el martes", "> ok", "no, gracias"], "martes", "gracias"),
    ("spanish", ["la reunión es el martes", "> Vale, ¿algo más?", "no, el viernes"], "martes", "viernes"),
    ("spanish", ["Vivo en Sevilla.", "> ¿En Cádiz?", "No, vivo en Sevilla."], "Sevilla", "Cádiz"),
    ("spanish", ["Perdón, llegué tarde. Vivo en Cádiz."], "Cádiz", "tarde"),
    ("spanish", ["La cena es el martes. Perdón, me tengo que ir"], "martes", "ir"),
    ("spanish", ["Mi vuelo es el 14", "> ¿Te aviso el 12?", "No, el 13"], "14", "13"),
    ("spanish", ["Vivo en Sevilla. No, en serio."], "Sevilla", "serio"),
    ("spanish", ["Vivo en Sevilla, digo yo que para siempre."], "Sevilla", "siempre"),
    ("spanish", ["Soy maestra. Perdona, un poco lenta"], "maestra", "lenta"),
    ("spanish", ["Mi jefa Carmen vive en Bilbao. Perdón, Carla."], "Bilbao", "Carla"),
    ("spanish", ["Mi talla de zapato es 39. Espera, 2 minutos"], "39", "2"),
    ("spanish", ["El examen es el lunes. No, gracias."], "lunes", "gracias"),
    ("spanish", ["Mi hermana se llama Petra. Perdón, mamá"], "Petra", "mamá"),
    ("spanish", ["Trabajo en Iberia. Lo siento, estoy liada"], "Iberia", "liada"),
    ("spanish", ["Soy de Bilbao. No de Getxo."], "Bilbao", "Getxo"),
    ("spanish", ["Mi cita con el dentista es el lunes. ¿O no, el jueves?"], "lunes", "jueves"),
    ("spanish", ["Vivo en Sevilla, más bien en Triana"], "Sevilla", "Cádiz"),
    ("chinese", ["我住在杭州。", "> 你住在苏州吗？", "不，我住在杭州。"], "杭州", "苏州"),
    ("chinese", ["我住在杭州，不是苏州。"], "杭州", "苏州"),
    ("chinese", ["我住在杭州。不好意思，迟到了"], "杭州", "迟到"),
    ("chinese", ["会议是周五下午两点", "> 好", "不，我不去"], "周五下午两点", "不去"),
    ("chinese", ["会议是周五下午两点", "> 要我提醒你吗？", "不，周四"], "周五下午两点", "周四"),
    ("chinese", ["会议是周五，聚餐是周六", "> 好", "改成周四了"], "周五", "周四"),
    ("chinese", ["会议是周五下午两点", "> 好", "改成线上了"], "周五下午两点", "线上"),
    ("chinese", ["我的航班是14号", "> 要我12号提醒你吗？", "不，13号"], "14号", "13号"),
    ("chinese", ["我是护士。抱歉，有点忙"], "护士", "忙"),
    ("chinese", ["对不起，我来晚了。我住在苏州。"], "苏州", "来晚"),
    ("chinese", ["会议是周二。等等，我看一下"], "周二", "看"),
    ("chinese", ["我叫小明。不客气"], "小明", "客气"),
    ("chinese", ["我的柜子密码是4411。不用谢"], "4411", "用谢"),
    ("chinese", ["我今年三十五岁。等一下，5分钟"], "三十五", "5"),
    ("chinese", ["我在阿里工作。不是开玩笑"], "阿里", "玩笑"),
    ("chinese", ["考试是5月12号。是5月13号吗？"], "5月12号", "5月13号"),
    ("chinese", ["我住在杭州。不对吗？"], "杭州", "吗"),
    ("chinese", ["我妹妹叫小丽。抱歉，塞车"], "小丽", "塞车"),
    ("chinese", ["我的房租是3000元。不好意思，2个小时以后再说"], "3000", "2"),
]


def _ids(table: Sequence[tuple[str, list[str], str, str]]) -> list[str]:
    return [f"{language}-{number}" for number, (language, *_) in enumerate(table)]


def _utterances(messages: Sequence[str]) -> list[Utterance]:
    return [
        Utterance(
            message.removeprefix("> "),
            AT + timedelta(minutes=number),
            "assistant" if message.startswith("> ") else "user",
        )
        for number, message in enumerate(messages)
    ]


def _current(messages: Sequence[str], language: str) -> list[StatedFact]:
    """The facts that hold in the end."""
    facts = read_facts(_utterances(messages), language)
    timed = [
        TimedFact(n, f.subject, f.predicate, f.object, f.text, f.said_at, f.is_functional, f.change, f.about_user)
        for n, f in enumerate(facts)
    ]
    closed = {closure.old for closure in resolve(timed).closures}
    return [fact for number, fact in enumerate(facts) if number not in closed]


@pytest.mark.parametrize(("language", "messages", "holds", "gone"), CORRECTED, ids=_ids(CORRECTED))
def test_what_a_person_meant_holds(language: str, messages: list[str], holds: str, gone: str) -> None:
    facts = _current(messages, language)
    assert any(holds in fact.object for fact in facts), facts
    assert not any(gone in fact.object or gone in fact.text for fact in facts), facts


@pytest.mark.parametrize(("language", "messages", "holds", "never"), UNCHANGED, ids=_ids(UNCHANGED))
def test_what_only_looks_like_a_correction_changes_nothing(
    language: str, messages: list[str], holds: str, never: str
) -> None:
    facts = _current(messages, language)
    assert any(holds in fact.object for fact in facts), facts
    assert not any(never in fact.object for fact in facts if not fact.predicate.startswith("not ")), facts


def test_what_else_a_corrected_statement_says_is_said_in_the_words_that_hold() -> None:
    facts = _current(["I work as a nurse at Fiat. I mean a midwife."], "english")
    assert {(fact.predicate, fact.object) for fact in facts} == {("works_as", "midwife"), ("works_at", "Fiat")}
    assert {fact.text for fact in facts} == {"I work as a midwife at Fiat."}


@pytest.mark.parametrize(
    ("language", "said", "line"),
    [
        (
            "english",
            "Please remember that my flight is on the 14th of May - no, sorry, on the 15th of May.",
            "My flight is on the 15th of May.",
        ),
        ("english", "Please remember my locker code is 4471, no sorry, 4417.", "My locker code is 4417."),
        (
            "german",
            "Bitte merk dir, mein Zahnarzttermin ist am 14. Mai, nein, am 15. Mai.",
            "Mein Zahnarzttermin ist am 15. Mai.",
        ),
        (
            "german",
            "Bitte merk dir, dass mein Flug am 13. Mai geht, nein, am 14. Mai.",
            "Mein Flug geht am 14. Mai.",
        ),
        ("german", "Bitte merk dir, dass mein Flug am 13. Mai geht.", "Mein Flug geht am 13. Mai."),
        (
            "spanish",
            "Recuerda que mi vuelo es el 14 de mayo, no, perdón, el 15 de mayo.",
            "Mi vuelo es el 15 de mayo.",
        ),
        (
            "english",
            "The combination is heron then pewter, it's two words, please remember that.",
            "The combination is heron then pewter, it's two words",
        ),
    ],
)
def test_what_is_to_be_remembered_is_kept_as_it_was_meant(language: str, said: str, line: str) -> None:
    heard = memorable_of([Message(1, "user", said, AT, 20)], language, "UTC")
    assert [(each.statement.text, each.is_request) for each in heard.lines] == [(line, True)]


def test_a_correction_is_about_the_statement_before_it_alone() -> None:
    facts = _current(["My flight is on the 14th. The hotel is nice, I think. Sorry, the 15th."], "english")
    assert [fact.object for fact in facts if fact.predicate == "when"] == ["on the 14th"]


def test_a_line_of_a_file_corrects_no_other_line() -> None:
    lines = [Utterance(line, AT, "file") for line in ("My flight is on the 14th.", "Sorry, the 15th.")]
    assert [fact.object for fact in read_facts(lines)] == ["on the 14th"]


class TestLines:
    """What is noted and summarised: never the value alone that was taken back."""

    SAID = (
        "I booked everything for the trip, so here is what I have decided with my sister for next week.",
        "Sounds good.",
        "My flight to Rome is on the 14th of May. No, sorry, the 15th of May.",
        "Noted.",
    )

    @staticmethod
    def _messages(*texts: str) -> list[Message]:
        roles: tuple[Role, Role] = ("user", "assistant")
        return [Message(number + 1, roles[number % 2], text, AT, 5) for number, text in enumerate(texts)]

    def test_a_note_has_the_statement_as_it_holds_where_it_was_read(self) -> None:
        said = self._messages(*self.SAID)
        resolved = memorable_of(said, "english", "UTC").resolved
        lines = [note.line for note in notes_of(said, resolved=resolved)]
        assert any("on the 15th of May" in line for line in lines), lines
        assert not any("14th" in line for line in lines), lines

    def test_a_note_without_facts_quotes_both_sentences(self) -> None:
        lines = [note.line for note in notes_of(self._messages(*self.SAID))]
        assert any("14th of May. No, sorry, the 15th of May." in line for line in lines), lines

    def test_a_summary_quotes_both_sentences(self) -> None:
        summary = summarise(self._messages(*self.SAID), "", max_tokens=200, count=lambda text: len(text) // 4)
        assert "14th of May. No, sorry, the 15th of May." in summary

    def test_a_correction_in_the_next_message_is_quoted_with_what_it_corrects(self) -> None:
        said = self._messages("My flight to Rome is on the 14th of May.", "Noted.", "Oops, the 15th of May.", "Fine.")
        summary = summarise(said, "", max_tokens=200, count=lambda text: len(text) // 4)
        assert "14th of May. Oops, the 15th of May." in summary

    @pytest.mark.parametrize(
        "said",
        [
            "Please remember that my locker code is 4411. No wait, 4412.",
            "I work as a nurse. What am I saying, a midwife.",
        ],
    )
    def test_what_was_taken_back_is_no_line_of_the_lasting_files(self, said: str) -> None:
        basis = Basis(
            "web:1",
            self._messages("I live in Leeds and I work in a school, with my friends.", "Nice.", said, "Noted."),
            FileSnapshot("MEMORY.md", None),
            FileSnapshot("PROFILE.md", None),
            (),
            frozenset(),
            lambda text: text,
            "english",
        )
        proposal = heuristic_proposal(basis, ExtractionRules(), None)
        written = "\n".join(file.text for file in proposal.files)
        assert "4411" not in written
        assert "nurse" not in written
        # Of who somebody is PROFILE.md gets lines from facts.
        assert ("4412" in written) is ("4411" in said)
