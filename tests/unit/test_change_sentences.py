"""Tests of which sentences may tell a change, and of what similarity alone is not enough for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, change_sentences
from reverie_server.heuristics.changes.changed_facts import SimilarityLimits, has_value, replacement, replacing_fact
from reverie_server.heuristics.changes.changed_values import (
    can_be_its_value,
    is_of_another_value,
    is_value,
    with_new_number,
)
from reverie_server.heuristics.changes.paired_changes import can_be_otherwise
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import Utterance

THEN, NOW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
LIMITS = SimilarityLimits(alone=0.42, shared=0.36, choice=0.55, ahead=0.08, valued=0.42, known=frozenset({"english"}))
RENT = OpenFact("user", "rent", "850 a month", "My rent is 850 a month.", THEN, is_functional=True)
BOSS = OpenFact("user", "boss", "Bruno Hahn", "My boss is Bruno Hahn.", THEN, is_functional=True)
WIFE = OpenFact("user", "partner", "Nadia", "Nadia is my wife.", THEN, is_functional=True)
CHOIR = OpenFact("choir", "when", "on Mondays", "Choir is on Mondays.", THEN, is_functional=True, about_user=False)


def change(sentence: str, language: str = "english") -> ChangeSentence:
    [found] = change_sentences([Utterance(sentence, NOW)], language)
    return found


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("english", "The landlord raised it to 920."),
        ("english", "They have put me on the early shift since Monday."),
        ("german", "Die Feier ist um eine Woche auf den 29. gerutscht."),
        ("spanish", "El ensayo ya no es los lunes, pasó a los jueves."),
        ("chinese", "房东把房租涨到三千二了。"),
    ],
)
def test_a_sentence_with_a_word_of_change_may_tell_one(language: str, sentence: str) -> None:
    assert change(sentence, language).sentence == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "Has the landlord raised it to 920?",
        "Maybe the landlord raised it to 920.",
        "We will move to a bigger flat next year.",
        "If they raise it to 920 now, I am leaving.",
        "It is a nice flat near the park.",
        "New shoes!",
    ],
)
def test_questions_wishes_plans_and_plain_statements_tell_none(sentence: str) -> None:
    assert change_sentences([Utterance(sentence, NOW)], "english") == []


@pytest.mark.parametrize(
    ("language", "sentence", "told"),
    [
        ("english", "The bakery opens at six now, what should I put in the window?", "The bakery opens at six now"),
        ("german", "Die Miete beträgt jetzt 920 Euro, wie viel bleibt mir davon?", "Die Miete beträgt jetzt 920 Euro"),
        ("spanish", "El ensayo ya es los jueves a las ocho, ¿qué me pongo?", "El ensayo ya es los jueves a las ocho"),
        ("spanish", "El ensayo ya es los jueves a las ocho ¿qué me pongo?", "El ensayo ya es los jueves a las ocho"),
        ("chinese", "现在食堂有四百二十个孩子，一天收多少？", "现在食堂有四百二十个孩子"),
    ],
)
def test_what_stands_before_a_question_is_told(language: str, sentence: str, told: str) -> None:
    [found] = change_sentences([Utterance(sentence, NOW)], language, with_statements=True)
    assert (found.sentence, found.told, found.is_statement) == (sentence, told, True)
    assert replacement(found, CHOIR).text == told


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("english", "So my rent is 900 a month now, right?"),
        ("english", "Does my sister, who lives in Leeds now, have a dog?"),
        ("english", "The gym costs 45 a month now, or does it still cost 30?"),
        ("english", "Say the gym costs 45 a month now, can I pay that?"),
        ("english", "When we lived in Leeds, our rent was 475 a month, what would that be now?"),
        ("english", "Fix the grammar: I has moved to Leeds now, is it right?"),
        ("english", "Could you translate this: I live in Leeds now and work at Lidl"),
        ("english", "When I retire, I am moving to Spain now."),
        ("german", "Mein Chef heißt jetzt Henning, oder heißt er noch Jens?"),
        ("german", "Nehmen wir an, die Miete ist jetzt 950 Euro, was bleibt mir?"),
        ("german", "Ziehe ich jetzt nach Leipzig, was wird aus dem Hund?"),
        ("spanish", "El gimnasio cuesta ahora 45 euros, ¿o sigue en 30 euros?"),
        ("spanish", "De ganar ahora 3200 euros al mes, ¿cuánto me queda?"),
        ("chinese", "健身房现在一个月45块，还是30块呢？"),
        ("chinese", "我现在搬到上海的话，房租要多少钱？"),
        ("english", "If the rent goes up to 920 now, can I still keep the flat?"),
        ("german", "Die Miete beträgt jetzt 920 Euro, oder?"),
        ("chinese", "房租现在是三千二，对吧？"),
        ("english", "Right, so I need a packed lunch idea for tomorrow now."),
        ("german", "Ich brauche jetzt ein paar schnelle Rezepte für den Abend."),
        ("spanish", "Ahora necesito una receta rápida con calabacín."),
        ("chinese", "现在给我推荐几个减压的办法"),
        ("chinese", "周末去哪玩比较好"),
    ],
)
def test_who_asks_whether_it_is_so_tells_nothing(language: str, sentence: str) -> None:
    assert not any(
        each.is_statement for each in change_sentences([Utterance(sentence, NOW)], language, with_statements=True)
    )


def test_what_it_replaces_is_the_fact_of_the_same_kind() -> None:
    found = replacing_fact(change("The landlord raised it to 920."), [RENT, BOSS], [0.5, 0.2], LIMITS)
    assert found is not None
    assert (found.subject, found.predicate, found.text) == ("user", "rent", "The landlord raised it to 920.")
    assert found.is_functional
    assert found.said_at == NOW


@pytest.mark.parametrize(
    ("sentence", "facts", "similarities"),
    [
        pytest.param("The landlord raised it to 920.", [RENT], [0.3], id="not like enough"),
        pytest.param("The landlord raised it to 920.", [RENT, BOSS], [0.5, 0.45], id="not ahead of another"),
        pytest.param("The landlord has changed the locks.", [RENT], [0.6], id="no value of the kind"),
        pytest.param("The rent is 850 a month again now.", [RENT], [0.8], id="the same value"),
        pytest.param("My sister got her rent raised to 920.", [RENT], [0.8], id="of somebody else"),
        pytest.param("We sing better since the break.", [CHOIR], [0.6], id="no time"),
        pytest.param("Everything has changed at work lately.", [BOSS], [0.6], id="no person"),
        pytest.param("I have a second Sean now, so mind yourself.", [WIFE], [0.6], id="a name alone is no wife"),
        pytest.param("Gareth Pugh has retired, I sent him a card.", [BOSS], [0.6], id="who left was not it"),
    ],
)
def test_where_it_is_not_plain_nothing_is_replaced(
    sentence: str, facts: list[OpenFact], similarities: list[float]
) -> None:
    assert replacing_fact(change(sentence), facts, similarities, LIMITS) is None


@pytest.mark.parametrize(
    ("language", "sentence", "is_other"),
    [
        ("english", "Everybody at the new firm works with Neovim now.", False),
        ("english", "These days it's Burren Coaches who pay me for the same work.", True),
        ("english", "Since Monday I work at Corve.", True),
        ("german", "Bei der neuen Firma arbeiten jetzt alle mit Neovim.", False),
        ("german", "Seit gestern arbeite ich bei der Tischlerei Ahlers.", True),
        ("german", "Ich arbeite jetzt bei Weserwind.", True),
    ],
)
def test_a_new_employer_has_a_name(language: str, sentence: str, is_other: bool) -> None:
    job = OpenFact("user", "works_at", "Harlan", "I work at Harlan.", THEN, is_functional=True)
    assert has_value(change(sentence, language), job) is is_other


@pytest.mark.parametrize(
    ("language", "sentence", "is_other"),
    [
        ("english", "Everybody at the new firm works with Neovim now.", False),
        ("english", "I started at Corve this week, same work as before.", False),
        ("english", "They made me head of the archive last week.", True),
        ("german", "Bei der neuen Firma arbeiten jetzt alle mit Neovim.", False),
        ("german", "Seit Mai bin ich dort Abteilungsleiter.", True),
        ("spanish", "Ahora trabajo desde casa los lunes.", False),
        ("spanish", "Desde mayo soy encargada de la tienda.", True),
        ("chinese", "我们公司现在都用新系统上班打卡。", False),
        ("chinese", "我现在升主管了。", True),
    ],
)
def test_another_trade_is_named(language: str, sentence: str, is_other: bool) -> None:
    trade = OpenFact("user", "works_as", "nurse", "I am a nurse.", THEN, is_functional=True)
    assert has_value(change(sentence, language), trade) is is_other


def test_a_spouse_gives_way_to_who_is_called_one() -> None:
    assert replacing_fact(change("I have a new girlfriend now, Eva."), [WIFE], [0.6], LIMITS)


def test_in_a_language_that_the_model_does_not_know_a_word_must_be_shared() -> None:
    rent = OpenFact("user", "miete", "850 Euro", "Die Miete ist 850 Euro.", THEN, is_functional=True)
    assert replacing_fact(change("Es sind jetzt 920 geworden.", "german"), [rent], [0.8], LIMITS) is None
    assert replacing_fact(change("Bei der Miete sind es jetzt 920 geworden.", "german"), [rent], [0.8], LIMITS)


def test_a_fact_that_was_said_later_is_not_replaced() -> None:
    later = OpenFact("user", "rent", "850", "My rent is 850.", datetime(2026, 3, 1, tzinfo=UTC), is_functional=True)
    assert replacing_fact(change("The landlord raised it to 920."), [later], [0.9], LIMITS) is None


def test_a_pet_that_is_renamed_loses_its_name() -> None:
    dog = OpenFact("user", "dog", "Canelo", "Tenemos un perro que se llama Canelo.", THEN, is_functional=False)
    renamed = change("Al perro le hemos cambiado el nombre, ahora se llama Bolo.", "spanish")
    found = replacing_fact(renamed, [dog], [0.7], LIMITS)
    assert found is not None
    assert found.change is not None
    assert found.change.old_object == "Canelo"
    walked = change("Al perro lo saco ahora por las mañanas.", "spanish")
    assert replacing_fact(walked, [dog], [0.7], LIMITS) is None


def test_a_value_that_is_denied_is_the_one_that_held() -> None:
    lesson = OpenFact(
        "Thai lesson", "when", "on Sundays at 11:00", "My Thai lesson is on Sundays at 11:00.", THEN, is_functional=True
    )
    rehearsal = change("We rehearse on Mondays at 20:00 in the parish hall now, not at 19:30.")
    assert replacing_fact(rehearsal, [lesson], [0.6], LIMITS) is None
    assert replacing_fact(change("We meet on Thursdays now instead of Sundays."), [lesson], [0.6], LIMITS)
    assert replacing_fact(change("We meet on Thursdays now instead of Fridays."), [lesson], [0.6], LIMITS) is None
    assert replacing_fact(change("My Thai lesson has moved to Saturdays at 10:00."), [lesson], [0.6], LIMITS)


def test_where_one_lives_is_replaced_by_a_place() -> None:
    home = OpenFact("user", "lives_in", "Leeds", "I live in a flat in Leeds.", THEN, is_functional=True)
    assert not has_value(change("But now it halves my rent, and there's a garden for Biscuit."), home)
    assert has_value(change("We've moved all our things to Harrogate now."), home)
    assert has_value(change("We've bought the cottage with the green door."), home)


def test_who_is_off_sick_is_a_dentist_still() -> None:
    dentist = OpenFact("user", "dentist", "Dr Okafor", "My dentist is Dr Okafor.", THEN, is_functional=True)
    assert not has_value(change("It's now 3 June at 2, because Dr Okafor's off sick."), dentist)
    assert has_value(change("We got a letter now, Dr Okafor has retired."), dentist)


@pytest.mark.parametrize("sentence", ["我不喝咖啡一喝就心慌", "我住在朝阳每天坐地铁上班", "我老公叫Thomas是德国人"])
def test_a_run_on_is_read_as_it_stands(sentence: str) -> None:
    assert [each.said for each in change_sentences([Utterance(sentence, NOW)], "chinese", with_statements=True)] == [
        sentence
    ]


@pytest.mark.parametrize(
    ("sentence", "kind", "object_"),
    [
        ("The yard gate has been changed, it opens with 9026 now.", "replaces", "9026"),
        ("The yard gate has a new lock.", "ends", "The yard gate has a new lock"),
        (
            "The yard gate opens with 9026 or with 9027 now.",
            "replaces",
            "The yard gate opens with 9026 or with 9027 now",
        ),
    ],
)
def test_a_number_gives_way_to_the_one_that_a_sentence_has(sentence: str, kind: str, object_: str) -> None:
    gate = OpenFact("yard gate", "opens_with", "4471", "The yard gate opens with 4471.", THEN, is_functional=True)
    found = replacement(change(sentence), gate)
    assert found.change is not None
    assert (found.change.kind, found.object) == (kind, object_)


def test_the_number_that_is_with_new_number_the_end_of_another_is_the_new_one() -> None:
    code = OpenFact("alarm code of the shop", "is", "2864", "The alarm code is 2864.", THEN, is_functional=True)
    ended = replacement(change("There is a new alarm panel in the shop now."), code)
    [read] = read_facts([Utterance("The code is 9317 now.", ended.said_at)], "english")
    found = with_new_number(ended, [read])
    assert (found.subject, found.object, found.text) == ("alarm code of the shop", "9317", "The code is 9317 now.")
    [other] = read_facts([Utterance("The code of the bank is 9317 now.", ended.said_at)], "english")
    assert with_new_number(ended, [other]) == ended


@pytest.mark.parametrize(
    ("thing", "value", "sentence", "can_be"),
    [
        ("UCI", "11-4827-3390", "The buzzer code is 2286 now.", False),
        ("UCI", "11-4827-3390", "My UCI is 11-4827-3391 now.", True),
        ("permit", "KX88213", "The router has a new name now, it is pelican77.", False),
        ("permit", "KX88213", "They changed my permit, it is KX90001 now.", True),
        # An amount may go by another name, and so may a day.
        ("rent", "850", "We pay 920 for the flat now.", True),
        ("wedding", "2026-09-12", "We moved it to the 26th.", True),
    ],
)
def test_a_code_of_any_name_gives_way_to_one_of_the_same_thing(
    thing: str, value: str, sentence: str, can_be: bool
) -> None:
    fact = OpenFact(thing, "is", value, f"My {thing} is {value}.", THEN, is_functional=True)
    [found] = change_sentences([Utterance(sentence, NOW)], "english", with_statements=True)
    assert is_value(fact) is (thing in ("UCI", "permit"))
    assert can_be_its_value(found, fact) is can_be


@pytest.mark.parametrize(
    ("language", "said", "text"),
    [
        ("english", "My fee is 40 an hour now", "rent 900, gas 60, phone 15, and I earn 2900"),
        ("german", "Unsere Hausnummer ist nun 14", "Das Boot hat die Kennung KR-7719"),
    ],
)
def test_a_list_of_sums_and_a_code_are_not_over_for_a_number_of_something_else(
    language: str, said: str, text: str
) -> None:
    assert is_of_another_value(change(said, language), text)


def test_what_was_to_be_remembered_is_not_over_for_what_does_not_speak_of_it() -> None:
    [new] = change_sentences([Utterance("I'm at the food bank on Wednesdays now", NOW)], "english")
    asked = OpenFact("note", "states", "no spoons", "Give me grams, never spoons.", THEN, False, True, "request")
    assert not can_be_otherwise(new, asked)


def test_a_doctor_where_one_lives_is_no_move() -> None:
    [new] = change_sentences([Utterance("My doctor down in Alsdorf has new glasses now", NOW)], "english")
    home = OpenFact("user", "lives_in", "Alsdorf", "I live in Alsdorf.", THEN, True)
    assert not can_be_otherwise(new, home)


def test_the_house_that_one_lives_in_is_no_other_trade() -> None:
    [new] = change_sentences([Utterance("Ich bewohne nun ein Haus, im Flur steht ein Eimer", NOW)], "german")
    trade = OpenFact("user", "works_as", "Küster", "Ich bin Küster.", THEN, True)
    assert not can_be_otherwise(new, trade)
