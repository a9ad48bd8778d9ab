"""How people say the most usual things in passing, in several languages; and what only sounds like it."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from reverie_server.heuristics.changes.change_sentences import OpenFact, change_sentences
from reverie_server.heuristics.changes.changed_facts import has_to_do_with, is_about
from reverie_server.heuristics.changes.values import is_other_value, values_of
from reverie_server.heuristics.entries import entries_of
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.memorable import memorable_of
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.requests.likely_requests import likely_requests
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.sessions.model import Message

AT = datetime(2026, 3, 2, 20, tzinfo=UTC)


def facts(language: str, *said: str) -> list[tuple[str, str, str]]:
    found = read_facts([Utterance(text, AT) for text in said], language)
    return [(fact.subject, fact.predicate, fact.object) for fact in found]


def requested(language: str, *said: tuple[str, str]) -> list[str]:
    """The lines that are kept since somebody asked for it, of messages with their roles."""
    messages = [Message(n, role, text, AT, 1, str(n), {}) for n, (role, text) in enumerate(said, 1)]  # type: ignore[arg-type]
    return [line.statement.text for line in memorable_of(messages, language, "UTC").lines if line.is_request]


@pytest.mark.parametrize(
    ("language", "said", "fact"),
    [
        ("english", "I'm starting a new job at Harrow Mill on 2 March.", ("user", "works_at", "Harrow Mill")),
        ("english", "I'll be starting work with Harrow Mill in May.", ("user", "works_at", "Harrow Mill")),
        ("english", "I'm leaving Copper Lane because the hours are mad.", ("user", "quit", "Copper Lane")),
        ("english", "Petra made me head baker this morning!", ("user", "works_as", "head baker")),
        ("english", "My brother Tom isn't in Derby any more, he's moved to Hull.", ("Tom", "lives_in", "Hull")),
        (
            "english",
            "On 12 March I have an appointment with the vet.",
            ("appointment with the vet", "when", "on 12 March"),
        ),
        ("german", "Ich fange im Mai bei Thalmann an.", ("user", "works_at", "Thalmann")),
        ("german", "Ab 1. Mai leite ich die Filiale von Thalmann in Jena.", ("user", "works_at", "Thalmann")),
        ("german", "Ich gehe bei Löwner weg, weil mir alles zu viel ist.", ("user", "quit", "Löwner")),
        ("german", "Zur Arbeit fahre ich jetzt mit dem Bus.", ("user", "commute", "mit dem Bus")),
        ("german", "Der Malkurs ist hier freitags statt dienstags.", ("Malkurs", "when", "freitags")),
        ("german", "Am 12. März habe ich einen Termin beim Zahnarzt.", ("Termin beim Zahnarzt", "when", "am 12. März")),
        ("german", "Ich habe am 12. März einen Termin beim Zahnarzt.", ("Termin beim Zahnarzt", "when", "am 12. März")),
        ("spanish", "El 1 de abril empiezo a trabajar en Ebro Taller.", ("user", "works_at", "Ebro Taller")),
        ("spanish", "Dejo Monteluz porque me pagan poco.", ("user", "quit", "Monteluz")),
        ("spanish", "Mi hermano Luis ya no está en Soria, se ha ido a Vigo.", ("Luis", "lives_in", "Vigo")),
        ("spanish", "El 12 de marzo tengo cita con el dentista.", ("cita con el dentista", "when", "el 12 de marzo")),
    ],
)
def test_what_is_announced_is_read(language: str, said: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(language, said)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "I'm starting a new job on Monday."),
        ("english", "I'm leaving because it's late."),
        ("english", "Petra made me head home early."),
        ("english", "Petra made me a sandwich this morning."),
        ("english", "My brother is not in Derby, he has gone to the pub."),
        ("english", "On the whole I have a meeting too many."),
        ("german", "Ich fange am Montag bei null an."),
        ("german", "Ab Montag arbeite ich bei mir zu Hause."),
        ("german", "Ich gehe bei Regen weg."),
        ("german", "Am Ende habe ich den Termin verpasst."),
        ("spanish", "Mañana empiezo a trabajar en serio."),
        ("spanish", "Empiezo a trabajar en abril."),
        ("spanish", "Mi hermano ya no está en casa, se ha ido a comprar."),
    ],
)
def test_what_only_sounds_like_it_is_not(language: str, said: str) -> None:
    predicates = {"works_at", "works_as", "quit", "lives_in", "commute", "when"}
    assert [fact for fact in facts(language, said) if fact[1] in predicates] == []


@pytest.mark.parametrize(
    ("language", "said", "when"),
    [
        ("english", "On 12 March I have an appointment with the vet, no, sorry, on 13 March.", "on 13 March"),
        (
            "german",
            "Am 12. März habe ich einen Termin beim Zahnarzt, nein, Entschuldigung, am 13. März.",
            "am 13. März",
        ),
        ("spanish", "El 12 de marzo tengo cita con el dentista, no, perdón, el 13 de marzo.", "el 13 de marzo"),
    ],
)
def test_a_day_at_the_beginning_is_corrected_too(language: str, said: str, when: str) -> None:
    assert [object_ for _, predicate, object_ in facts(language, said) if predicate == "when"] == [when]


@pytest.mark.parametrize(
    "said",
    [
        "I work at Copper Lane, and I forget everything that isn't a knee.",
        "I always forget people's names.",
        "Ich vergesse ständig die Namen von Leuten.",
        "Ich habe gestern den Schirm vergessen.",
        "Siempre me olvido de las llaves.",
        "Se me ha olvidado el paraguas.",
        "我总是忘记别人的名字。",
    ],
)
def test_who_forgets_asks_nobody_to(said: str) -> None:
    assert likely_requests("forget", [said]) == []
    assert forget_requests(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "I'd be grateful if you forgot the loan.",
        "I forgot to say: please don't keep what I said of the loan.",
        "Ich wäre froh, wenn du das mit dem Kredit vergessen würdest.",
        "Mejor que te olvides de lo del préstamo.",
    ],
)
def test_who_asks_to_forget_may_still_ask(said: str) -> None:
    assert [each.sentence for each in likely_requests("forget", [said])] == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Forget that, it wasn't mine to tell.",
        "Please forget that, I wasn't supposed to say it.",
        "Vergiss das bitte, das hätte ich nicht sagen sollen.",
        "Olvida eso, no debería contarlo.",
        "Olvida eso, no es asunto mío contarlo.",
        "忘了这件事，我不该说的。",
    ],
)
def test_a_reason_behind_a_request_to_forget_takes_nothing_from_it(said: str) -> None:
    [request] = forget_requests(f"He owes me a lot of money. {said}")
    assert (request.kind, request.before) == ("previous", ("He owes me a lot of money.",))


@pytest.mark.parametrize(
    "said",
    [
        "I shouldn't have told you that, but here we are.",
        "Forget it, let's move on.",
        "Das hätte ich nicht sagen sollen.",
        "No debería contarlo, pero me hace gracia.",
    ],
)
def test_regret_alone_asks_for_nothing(said: str) -> None:
    assert forget_requests(said) == []


@pytest.mark.parametrize(
    ("language", "said", "answer", "line"),
    [
        ("english", "The Wi-Fi is otter-77, please remember that. The router is in a box.", "Saved.", "otter-77"),
        ("german", "Kannst du dir merken, dass ich keine Milch vertrage? Die Pizza wird toll.", "Gemerkt.", "Milch"),
        ("spanish", "Guarda esto: el código postal es 46022. Mañana compro sellos.", "Guardado.", "46022"),
    ],
)  # fmt: skip
def test_what_is_promised_behind_a_request_is_what_it_asks_for(
    language: str, said: str, answer: str, line: str
) -> None:
    kept = requested(language, ("user", said), ("assistant", answer))
    assert len(kept) == 1
    assert line in kept[0]


def test_what_is_promised_behind_no_request_is_kept() -> None:
    assert requested("english", ("user", "The router is in a box."), ("assistant", "I'll remember that.")) == [
        "The router is in a box."
    ]


@pytest.mark.parametrize(
    ("language", "said"),
    [("english", "I always mix it up."), ("german", "Ich verwechsle es immer."), ("spanish", "Siempre lo confundo.")],
)
def test_what_one_always_does_with_something_named_before_is_no_line(language: str, said: str) -> None:
    assert requested(language, ("user", said)) == []


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "I always mix left and right up."),
        ("german", "Ich verwechsle immer links und rechts."),
        ("spanish", "Siempre confundo la izquierda con la derecha."),
    ],
)
def test_a_habit_is_a_line(language: str, said: str) -> None:
    assert requested(language, ("user", said)) == [said]


@pytest.mark.parametrize("asks", ["Please remember that.", "Merk dir das bitte.", "Recuérdalo, por favor."])
def test_a_request_alone_is_no_entry_of_a_note(asks: str) -> None:
    log = f"[12:31] User: I prefer green tea to coffee. {asks} | Assistant: Ok\n"
    assert [entry.text for entry in entries_of("memory/2026-03-02.md", log, date(2026, 3, 2))] == [
        "I prefer green tea to coffee."
    ]


@pytest.mark.parametrize(
    ("language", "old", "new", "can_end"),
    [
        ("english", "I go swimming every Saturday morning.", "I'm moving to York on Saturday.", False),
        ("english", "I go swimming every Saturday morning.", "On Saturdays I go hiking.", True),
        ("english", "I go swimming every Saturday morning.", "The pool is shut, so I swim on Wednesday.", True),
        ("german", "Ich gehe jeden Samstag schwimmen.", "Am Samstag kommt meine Tante an.", False),
        ("spanish", "Los sábados voy a nadar.", "El sábado llega mi tía del pueblo.", False),
        ("english", "She's getting married on 6 June in Bath.", "Yes, it is still in Bath.", False),
        ("german", "Die Feier ist am 6. Juni in Bonn.", "Ja, nach wie vor in Bonn.", False),
        ("spanish", "La boda es el 6 de junio en Soria.", "Sí, sigue siendo en Soria.", False),
        ("english", "I have put 1,500 pounds aside for the trip.", "The postcode of my parents is 46022.", False),
        ("spanish", "He ahorrado 1.500 euros para el viaje.", "El código postal de mis padres es 46022.", False),
        ("chinese", "我每天早上都喝咖啡。", "我还是喝茶吧，茶比较舒服。", True),
        ("spanish", "He ahorrado 1.500 euros para el viaje.", "Me quedan 1.200 euros para el viaje.", True),
    ],
)
def test_what_has_nothing_to_do_with_a_statement_cannot_end_it(
    language: str, old: str, new: str, can_end: bool
) -> None:
    [change] = change_sentences([Utterance(new, AT)], language, with_statements=True)
    assert has_to_do_with(change, old) is can_end


@pytest.mark.parametrize(
    ("language", "said", "can_end"),
    [
        ("english", "I'm moving to York at the end of the month.", False),
        ("german", "Wir ziehen Ende Februar nach Jena, der Vertrag ist unterschrieben.", False),
        ("german", "Seit gestern wohnen wir in Jena!", False),
        ("spanish", "Nos hemos mudado a Vigo.", False),
        ("english", "From the morning on it's Harrow who pay me.", True),
        ("german", "Seit gestern zahlt mir Thalmann den Lohn.", True),
        ("spanish", "Ahora me paga la nómina Ebro Taller.", True),
    ],
)
def test_where_one_lives_ends_no_work(language: str, said: str, can_end: bool) -> None:
    work = OpenFact("user", "works_at", "Copper", "I work at Copper.", AT.replace(year=2025), is_functional=True)
    [change] = change_sentences([Utterance(said, AT)], language, with_statements=True)
    assert is_about(change, work) is can_end


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("spanish", "El nuevo encargado se llama Iván Cebrián, treinta y cuatro años, podría ser mi hijo."),
        ("english", "The new boss is Ivan Cole, thirty-four, he could be my son."),
    ],
)
def test_who_could_be_a_child_is_none(language: str, said: str) -> None:
    boss = OpenFact("user", "boss", "Nuria", "My boss is Nuria.", AT.replace(year=2025), is_functional=True)
    [change] = change_sentences([Utterance(said, AT)], language, with_statements=True)
    assert is_about(change, boss)


def test_a_sum_of_money_is_no_code() -> None:
    money, code = values_of("I saved 1,500 euros.", "english"), values_of("The postcode is 46022.", "english")
    assert not is_other_value(code, money)
    assert is_other_value(values_of("The gate opens with 2714.", "english"), values_of("The gate: 58301.", "english"))
