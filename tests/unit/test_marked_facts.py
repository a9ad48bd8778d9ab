"""What marked spans of a sentence come to as facts: of whom they are, and what patterns have read of it before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from reverie_bench.marks import marked_text
from reverie_indexer.embed.marks import NOBODY, SPEAKER, Mark
from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.marked_facts import (
    CONFIDENCE,
    UNSURE,
    confidence_of,
    facts_of_marks,
    passages_to_mark,
)
from reverie_server.heuristics.stated_fact import StatedFact, Utterance

MARCH = datetime(2026, 3, 3, 9, tzinfo=UTC)


Chosen = Callable[[frozenset[int]], int]


def facts(marked: str, *, sure: float = 0.9, read: bool = False, of: Chosen = max) -> list[tuple[str, str, str]]:
    """Subject, predicate and object of what is made of a marked sentence, beside what patterns `read` of it; of a word
    and a name that are one person, what is said of either is `of` one."""
    return [(fact.subject, fact.predicate, fact.object) for fact in facts_in(marked, sure=sure, read=read, of=of)]


def facts_in(marked: str, *, sure: float = 0.9, read: bool = False, of: Chosen = max) -> list[StatedFact]:
    read_as = marked_text(marked)
    marks = [
        Mark(span.start, span.end, span.label, 0.9, span.state, of=of(span.of), confidence=sure)
        for span in read_as.spans
    ]
    utterance = Utterance(read_as.text, MARCH)
    [passage] = passages_to_mark([utterance], "english")
    known: dict[str, list[StatedFact]] = {}
    for fact in read_facts([utterance]) if read else []:
        known.setdefault(fact.sentence, []).append(fact)
    return facts_of_marks(passage, marks, known, People())


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("{job:carer} at {employer:Oak Lodge}", [("user", "works_as", "carer"), ("user", "works_at", "Oak Lodge")]),
        (
            "my {rel:husband} {person=1:tom}'s a {o_job@2:baker}",
            [("user", "husband", "tom"), ("tom", "works_as", "baker")],
        ),
        (
            "gonnae help us wi a birthday message fur {person=2:Priya}, she's ma {rel:girlfriend}",
            [("user", "partner", "Priya")],
        ),
        (
            "My {rel:mother} {person=1:Jean} lives in {o_home@2:a bungalow in Oadby}, I do her shopping on Saturdays.",
            [("user", "mother", "Jean"), ("Jean", "lives_in", "bungalow in Oadby")],
        ),
        ("{rel:Mum} is {o_age@1:81} now and lives with us.", [("user's mother", "age", "81")]),
        (
            "We have {pet:two cats}, {petname=1:Selena} and {petname=1:Chalino}.",
            [("user", "cat", "Selena"), ("user", "cat", "Chalino")],
        ),
        ("had lunch with {person:Priya} and my {rel:boss} today", []),
        ("my {rel:mum} turned {o_age@1:81} and {person:Callum} came round", [("user's mother", "age", "81")]),
        ("my {rel:boss}'s {rel@1:son} {person=2:Finn} is {o_age@3:12}", [("Finn", "age", "12")]),
        ("der {rel@2:Sohn} meiner {rel:Chefin} ist {o_age@1:12}", []),
        (
            "{kids:two kids} at home and the bloke doing up our boiler goes by {person:Dave}",
            [("user", "has", "two kids")],
        ),
        (
            "three {kids:kids}, {person=1:Anya}, {person=1:Leo} and {person=1:Max}",
            [("user", "has", "kids"), ("user", "child", "Anya"), ("user", "child", "Leo"), ("user", "child", "Max")],
        ),
        (
            "our {rel:sister} {person=1:Ana} stays in {o_home@2:Leeds}, me in {home:Leeds} an all",
            [("user", "sister", "Ana"), ("Ana", "lives_in", "Leeds"), ("user", "lives_in", "Leeds")],
        ),
        ("{home:\u200b} says it", []),
        ("i {job:run a} {job:chip shop in} whitby", [("user", "works_as", "run a chip shop")]),
        (
            "{rel:儿子}{person=1:陈屿}在{o_home@2:深圳}{o_job@2:做}{o_job@2:芯片}。",
            [("user", "son", "陈屿"), ("陈屿", "lives_in", "深圳"), ("陈屿", "works_as", "做芯片")],
        ),
        ("她{rel@2:爸爸}一人顾不过来，{person:苗苗}便转学到{o_school@2:集美}。", [("苗苗", "school", "集美")]),
        ("{petname:biscuit} has ate half a tube of caulk", [("user", "pet", "biscuit")]),
        ("my {rel:neighbour} {person=1:Chola} has got a {pet@2:poodle} that barks", [("user", "neighbour", "Chola")]),
        ("{person:Callum} is sleeping in his old bed again.", []),
        (
            "we've got {kids:twins}, {person=1:anya} and {person=1:leo}",
            [("user", "has", "twins"), ("user", "twins", "anya"), ("user", "twins", "leo")],
        ),
    ],
)
def test_marks_say_who_somebody_is_and_what_holds_of_them(marked: str, expected: list[tuple[str, str, str]]) -> None:
    assert facts(marked) == expected
    assert facts(marked, of=min) == expected


def changes(marked: str) -> list[tuple[str, str, str | None]]:
    """Predicate, object and what ends, of what is made of a marked sentence."""
    return [(fact.predicate, fact.object, fact.change and fact.change.old_object) for fact in facts_in(marked)]


def test_what_is_over_comes_before_what_holds_since() -> None:
    assert changes("I'm at {employer:Lidl} now, done with {ex_employer:Tesco} for good") == [
        ("works_at", "Tesco", "Tesco"),
        ("works_at", "Lidl", None),
    ]
    assert changes("was a {ex_job:nurse}, {job:head nurse} since May") == [
        ("works_as", "nurse", "nurse"),
        ("works_as", "head nurse", None),
    ]
    assert changes("{over_job:ich habe gekündigt}") == [("quit", "job", "job")]
    assert changes("my {ex_rel:boyfriend} {ex_person=1:Theo} and I are done") == [("partner", "Theo", "Theo")]


def test_an_unsure_mark_says_nothing() -> None:
    assert facts("{job:carer} at {employer:Oak Lodge}", sure=0.3) == []


def test_what_is_said_of_somebody_unsure_is_of_nobody_before() -> None:
    text = "my sister rang, says my brother is a copper now"
    [passage] = passages_to_mark([Utterance(text, MARCH)], "english")
    marks = [Mark(3, 9, "rel", 0.9), Mark(24, 31, "rel", 0.4, confidence=0.3), Mark(37, 43, "job", 0.9, of=1)]
    assert facts_of_marks(passage, marks, {}, People()) == []


def test_two_values_of_what_one_has_once_stand_beside_each_other() -> None:
    found = facts_in("{home:Leeds} in the week, {home:York} at weekends")
    assert [(fact.object, fact.is_functional) for fact in found] == [("Leeds", False), ("York", False)]


def test_whose_a_value_is_has_to_be_sure() -> None:
    text = "my brother drove me, plumber at last"
    [passage] = passages_to_mark([Utterance(text, MARCH)], "english")
    for of in (0, SPEAKER):
        marks = [Mark(3, 10, "rel", 0.9), Mark(21, 28, "job", 0.9, of=of, of_probability=0.5)]
        assert facts_of_marks(passage, marks, {}, People()) == []
    marks = [Mark(3, 10, "rel", 0.9), Mark(21, 28, "job", 0.9, of=NOBODY)]
    assert facts_of_marks(passage, marks, {}, People()) == []


def test_who_somebody_is_has_one_name_in_all_languages() -> None:
    text = "mia moglie Anna"
    [passage] = passages_to_mark([Utterance(text, MARCH)], "english")
    marks = [Mark(4, 10, "rel", 0.9, relation="wife"), Mark(11, 15, "person", 0.9, of=0)]
    assert [(fact.predicate, fact.object) for fact in facts_of_marks(passage, marks, {}, People())] == [
        ("wife", "Anna")
    ]


def test_what_is_to_come_does_not_hold() -> None:
    assert facts("we get the keys to {next_home:Kemptown} on the 3rd") == []


def test_a_pet_that_went_is_no_more() -> None:
    assert changes("had to {over_pet:say ta-ra} to {petname:Biscuit} last night") == [("pet", "Biscuit", "Biscuit")]
    assert changes("my {rel:sister} {over_pet@1:lost her cat}, {petname:Biscuit} looks for it") == [
        ("pet", "Biscuit", None)
    ]
    assert changes("{over_pet:lost the dog}, {petname:Rex} and {petname:Tom} are looking for him") == [
        ("pet", "Rex", None),
        ("pet", "Tom", None),
    ]


def test_what_several_speak_of_is_of_the_one_of_whom_it_is_said() -> None:
    assert facts("my {rel:sister} {person=1:Jo} has {o_kids@2:two kids}")[-1] == ("Jo", "has", "two kids")
    assert facts("my {rel:sister} has a {o_kids@1:boy}, {person=2:Leo}") == [("user's sister", "has", "boy")]
    assert facts("my {rel:neighbour} and his {petname=1:Rex}") == []
    assert facts("我{rel:老婆}{rel@1:妹妹}{person=2:小美}") == []


def test_who_is_to_come_is_nobody_yet() -> None:
    assert facts("we're expecting {next_kids:a girl}, {person=1:Mia}") == []
    assert facts("my {next_rel:son-in-law} {person=1:Tom} called") == []


def test_who_somebody_was_is_said_of_nobody_now() -> None:
    assert facts("my {ex_rel:husband} is a {o_job@1:baker}") == []


def test_an_unsure_name_names_nobody() -> None:
    text = "my brother Dunno is a plumber"
    [passage] = passages_to_mark([Utterance(text, MARCH)], "english")
    marks = [Mark(3, 10, "rel", 0.9), Mark(11, 16, "person", 0.3, of=0, confidence=0.3), Mark(22, 29, "job", 0.9, of=1)]
    assert facts_of_marks(passage, marks, {}, People()) == []
    of_brother = [*marks[:2], replace(marks[2], of=0)]
    assert [fact.subject for fact in facts_of_marks(passage, of_brother, {}, People())] == ["user's brother"]


def test_what_is_over_and_what_holds_stay_two_side_by_side() -> None:
    assert changes("{ex_job:cook}, {job:nurse}") == [("works_as", "cook", "cook"), ("works_as", "nurse", None)]


def test_what_may_not_hold_takes_the_place_of_nothing() -> None:
    text = "i'm in Leeds"
    [passage] = passages_to_mark([Utterance(text, MARCH)], "english")
    mark = Mark(7, 12, "home", 0.97, confidence=0.97)
    unsure = replace(mark, confidence=0.7)
    assert [fact.confidence for fact in facts_of_marks(passage, [unsure], {}, People())] == [confidence_of(0.7)]
    assert [fact.confidence for fact in facts_of_marks(passage, [mark], {}, People())] == [CONFIDENCE]
    assert UNSURE <= confidence_of(0) < confidence_of(0.7) < confidence_of(1) < CONFIDENCE
    assert facts_of_marks(passage, [replace(mark, confidence=0.3)], {}, People()) == []


def test_words_that_something_is_over_have_to_be_surer() -> None:
    assert changes("{over_job:ich habe gekündigt}") == [("quit", "job", "job")]
    assert facts("{over_job:ich habe gekündigt}", sure=0.5) == []


def test_who_lost_a_job_is_the_one_of_whom_it_is_said() -> None:
    assert facts("my {rel:husband} {over_job@1:got the sack}") == [("user's husband", "quit", "job")]
    assert changes("they {over_partner@1:split up}, {rel:mum} and {rel:dad}") == []
    assert changes("my {rel:boss} {over_job:sacked me}") == [("quit", "job", "job")]


def test_what_patterns_read_is_not_said_again() -> None:
    marked = "I live in {home:Leeds} and was raised {religion:Quaker}."
    assert facts(marked) == [("user", "lives_in", "Leeds"), ("user", "religion", "Quaker")]
    assert facts(marked, read=True) == [("user", "religion", "Quaker")]


@pytest.mark.parametrize(
    "text",
    [
        "Translate this: I live in Leeds and my dog is called Rex.",
        '"I live in Leeds," said the man.',
        "If I were rich I'd be a strategist living in Monaco.",
        "x" * 400,
    ],
)
def test_what_states_nothing_is_not_marked(text: str) -> None:
    assert passages_to_mark([Utterance(text, MARCH)], "english") == []


def test_who_a_sentence_is_about_says_the_one_before() -> None:
    found = facts_in("{petname:Pangur} is sick behind the {pet:tom}'s sofa. He's {o_age@1:fourteen}.")
    assert [(fact.sentence, fact.predicate, fact.object) for fact in found][-1] == ("He's fourteen.", "age", "fourteen")
    assert facts("Is {person:Ada} late again? She's a {o_job@1:nurse}.") == [("Ada", "works_as", "nurse")]


def test_what_stands_beside_a_question_is_told() -> None:
    """Of 500 questions about people's lives the model marks two, which both say who somebody is."""
    assert facts("how do you keep a bedroom cool, its the new place in {home:anlaby}") == [
        ("user", "lives_in", "anlaby")
    ]


def test_who_was_somebody_is_no_more() -> None:
    said = facts("My {ex_rel:wife} {ex_person=1:Anna} kept the flat. My {rel:wife} is a {o_job@3:nurse}.")
    assert ("Anna", "works_as", "nurse") not in said
    assert ("user's wife", "works_as", "nurse") in said


def test_a_name_is_cleaned_wherever_it_stands() -> None:
    assert facts('The {rel:boss} is {person=1:"Mia"} and she lives in {o_home@2:Leeds}.') == [
        ("user", "boss", "Mia"),
        ("Mia", "lives_in", "Leeds"),
    ]
    assert facts("My {rel:—} is {person=1:Mia}.") == []


def test_a_joke_states_nothing() -> None:
    assert facts("been a {job:plasterer} since i was 16 and still guess it every time lol") != []
    assert passages_to_mark([Utterance("I work in Leeds, just kidding", MARCH)], "english") == []


def test_what_is_not_sure_takes_the_place_of_nothing() -> None:
    def timed(number: int, object_: str, *, is_sure: bool) -> TimedFact:
        at = MARCH + timedelta(days=number)
        return TimedFact(number, "user", "works_as", object_, object_, at, is_functional=True, is_sure=is_sure)

    plasterer, gum = timed(1, "plasterer", is_sure=False), timed(2, "chewing gum", is_sure=False)
    assert resolve([plasterer, gum]).closures == ()
    assert [each.old for each in resolve([plasterer, timed(2, "roofer", is_sure=True)]).closures] == [1]
    [name] = facts_in("Hi I'm {name:Daniel}", sure=0.99)
    assert name.confidence < CONFIDENCE
    sure, unsure = (facts_in("i'm a {job:plasterer}", sure=share)[0].confidence for share in (0.95, 0.7))
    assert sure > unsure


def test_of_two_homes_that_are_not_sure_the_last_holds() -> None:
    def home(number: int, object_: str, *, is_sure: bool) -> TimedFact:
        at = MARCH + timedelta(days=number)
        return TimedFact(number, "user", "lives_in", object_, object_, at, is_functional=True, is_sure=is_sure)

    leeds, york = home(1, "Leeds", is_sure=False), home(2, "York", is_sure=False)
    assert [each.old for each in resolve([leeds, york]).closures] == [1]
    assert resolve([home(1, "Leeds", is_sure=True), york]).closures == ()


def test_long_messages_are_marked_in_parts_of_whole_sentences() -> None:
    text = "I keep bees in the orchard behind the house. " * 20
    passages = passages_to_mark([Utterance(text, MARCH)], "english")
    assert len(passages) > 2
    assert all(len(passage.text) <= 300 for passage in passages)
    for passage in passages:
        for sentence in passage.sentences:
            assert passage.text[sentence.start : sentence.end].strip() == sentence.sentence


def test_what_the_assistant_says_is_not_marked() -> None:
    assert passages_to_mark([Utterance("I live in the cloud.", MARCH, "assistant")], "english") == []


def test_what_the_sentence_takes_back_is_no_fact_of_a_mark() -> None:
    assert facts("Our {rel:dog} is called {person=1:Bruno}, not {person=1:Balu}.", read=True) == []


def test_what_is_read_of_somebody_else_is_not_the_speakers() -> None:
    assert facts("Tom Reed is a {job:driving instructor} and has nerves of steel.", read=True) == []
    assert facts("{name:Tom Reed} is a driving instructor and has nerves of steel.", read=True) == []
    of_both = facts("Tom Reed is a driving instructor, I'm a {job:train driver}.", read=True)
    assert ("user", "works_as", "driving instructor") not in of_both


def test_of_two_names_for_the_one_boss_the_nearer_one_is_it() -> None:
    said = "My {rel:boss} is {person=1:Kathi Polz}. That is not my other Kathi, {person=1:Kathi Bauer} is a midwife."
    assert [each for each in facts(said) if each[1] == "boss"] == [("user", "boss", "Kathi Polz")]


def test_words_that_a_job_is_over_and_name_none_have_to_be_sure() -> None:
    assert facts("{over_job:I'm on hold} so talk to me.", sure=0.7) == []
    assert facts("{over_job:They let me go} today.", sure=0.9) == [("user", "quit", "job")]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("{name:Jonas Berg} ist {job:Tischler} und hat Nerven.", []),
        ("{name:Nora Hall} works as a {job:nurse} in Leeds.", []),
        ("Karte für {name:Jonas}.", []),
        ("{name:Julia} es {job:enfermera}.", []),
        ("{name:李敏}是{job:护士}。", []),
        ("{name:Jonas} {age:52} {job:Tischler} aus Bremen.", ["name", "age", "works_as"]),
        ("I'm {name:Nora}, {job:nurse}.", ["name", "works_as"]),
        ("{name:Nora} is my name and I am a {job:nurse}.", ["name", "works_as"]),
        ("{name:Nora} here, {job:nurse}.", ["name", "works_as"]),
        ("我叫{name:李敏}，是{job:护士}。", ["name", "works_as"]),
    ],
)
def test_a_name_of_which_a_sentence_speaks_is_not_the_speakers(marked: str, expected: list[str]) -> None:
    assert [predicate for subject, predicate, _ in facts(marked) if subject == "user"] == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("Tengo {job:mecánica}.", []),
        ("Tengo una cita y soy {job:mecánica}.", ["works_as"]),
        ("Ada, 44, {job:welder}, two cats.", ["works_as"]),
        ("总算搬完家了，现在{job:落脚}在拱墅", []),
        ("Ja, auf {speaks:Französisch}, kurz bitte!", []),
        ("Ich bin {speaks:zweisprachig} aufgewachsen.", []),
        ("I taught them in {speaks:French}.", ["speaks"]),
        ("搬家找{home:货拉拉还是搬家公司}", []),
    ],
)
def test_what_nobody_says_of_themselves_is_marked_in_vain(marked: str, expected: list[str]) -> None:
    """A word for work that nobody says they do, the language of a text, and a choice."""
    assert [predicate for _, predicate, _ in facts(marked)] == expected


def test_what_is_said_of_him_is_not_of_the_speaker() -> None:
    assert facts("hes a {job:dentist} over in {home:Oban}") == []
    assert facts("He says I am the {job:cook}") == [("user", "works_as", "cook")]


def test_a_code_is_nothing_that_one_has() -> None:
    assert facts("my boiler is {has:KT-50}118") == []


def test_somebody_known_is_no_pet() -> None:
    read_as = marked_text("{petname:Mara} took the parrot along")
    marks = [Mark(span.start, span.end, span.label, 0.9, "over", of=SPEAKER, confidence=0.9) for span in read_as.spans]
    [passage] = passages_to_mark([Utterance(read_as.text, MARCH)], "english")
    known = People()
    known.named("Mara", "niece")
    assert facts_of_marks(passage, marks, {}, known) == []


def test_who_is_named_so_as_not_to_be_mixed_up_is_not_meant() -> None:
    assert facts("It was my {rel:brother}, not {person=0:Ortega}.") == []


def test_spanish_leaves_out_of_whom_it_speaks() -> None:
    assert facts("cumple los {age:12} en mayo") == []
    assert facts("dos helados {speaks:italianos}") == []


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("marnie, {age:44}, welder from Hull", ["44"]),
        ("turned {age:52} last week", ["52"]),
        ("Ich werd im März {age:43}, der Rücken merkts schon.", ["43"]),
        ("我今年{age:34}了", ["34"]),
        ("{age:38} años, de Cádiz", ["38"]),
        ("ich hab {age:31} Löcher gezählt", []),
        ("also {age:zwanzig}, gut", []),
        ("{age:3100} and a box of dead roses", []),
        ("Mi taquilla es la 61. Perdón, la {age:16}.", []),
        ("I'm Bob, {age:44} bags of cement to carry", []),
    ],
)
def test_a_number_is_an_age_where_it_is_said_as_one(marked: str, expected: list[str]) -> None:
    assert [value for _, predicate, value in facts(marked) if predicate == "age"] == expected


@pytest.mark.parametrize(
    "marked",
    [
        "Estamos {name:Iván} el {job:mecánico} y yo y no cabemos.",
        "known {name:colin} thirty years",
        "{nick:Toma}, lee.",
        "在车上了 {nick:阿哲}开 到了跟你说",
        "Luego viene Iván el {job:mecánico}.",
    ],
)
def test_a_name_that_nobody_introduces_is_not_the_speakers(marked: str) -> None:
    assert facts(marked) == []


def test_a_nickname_is_what_somebody_is_called() -> None:
    assert facts("everyone calls me {nick:Toma}") == [("user", "nickname", "Toma")]


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        ("meine Perle Anna kommt", 6, 11, [("wife", "Anna")]),
        # The verb of "die frag ich" is nobody.
        ("Anna, die frag ich", 10, 14, []),
    ],
)
def test_words_in_no_list_are_a_wife_where_she_is_the_speakers(
    text: str, start: int, end: int, expected: list[tuple[str, str]]
) -> None:
    [passage] = passages_to_mark([Utterance(text, MARCH)], "german")
    name = text.index("Anna")
    marks = [Mark(start, end, "rel", 0.9, relation="wife"), Mark(name, name + 4, "person", 0.9, of=0)]
    found = [(fact.predicate, fact.object) for fact in facts_of_marks(passage, marks, {}, People())]
    assert [each for each in found if each[0] == "wife"] == expected


def test_the_best_friend_is_no_partner() -> None:
    assert facts("{person=2:Katrin} ist meine {rel:engste Freundin}") == [("user", "friend", "Katrin")]
