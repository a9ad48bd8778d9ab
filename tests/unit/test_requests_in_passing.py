"""Requests to remember that are made in passing: what is to be remembered."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.heuristics.extract import notable_lines
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.requests.fact_requests import split_request, with_named
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.sessions.model import Message

AT = datetime(2026, 10, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "remembered"),
    [
        ("apúntame ahí que el martes no puedo", "el martes no puedo"),
        ("anota por ahí que el seguro vence en marzo", "el seguro vence en marzo"),
        ("oye, que no se te pase: el código del portal es 4412", "el código del portal es 4412"),
        ("para que lo tengas en cuenta, trabajo de noche", "trabajo de noche"),
        ("麻烦记一笔，车险三月到期", "车险三月到期"),
        ("给我备注一下，房东电话是13800001111", "房东电话是13800001111"),
        ("Falls ich jemals frage: Die Urkunde liegt im Nähkasten.", "Die Urkunde liegt im Nähkasten."),
        ("Por si alguna vez pregunto: la llave está en la lata.", "la llave está en la lata."),
        ("Die Zahl für den Spind ist jetzt 8036, wirf die alte bitte raus.", "Die Zahl für den Spind ist jetzt 8036"),
        ("The locker opens with 8036 now, you can throw out the old one.", "The locker opens with 8036 now"),
        ("Ahora se quita con el 3307, apréndetelo bien, que no quiero líos.", "Ahora se quita con el 3307"),
        ("Kannst du dir noch meine Personalnummer notieren?", "meine Personalnummer"),
        ("i'm allergic to nuts remember that please", "i'm allergic to nuts"),
        ("my locker is 88 keep that in mind ok", "my locker is 88"),
        ("ich bin vegan merk dir das bitte", "ich bin vegan"),
        ("meine pin ist 1234 denk dran", "meine pin ist 1234"),
        ("la alarma es 4471 apúntalo", "la alarma es 4471"),
        ("la alarma es 4471, apúntalo", "la alarma es 4471"),
        ("la placa del food truck es RHS-482-A acuérdate", "la placa del food truck es RHS-482-A"),
        ("soy alérgico al marisco recuérdalo", "soy alérgico al marisco"),
        ("el permiso me vence el 15 de julio anótalo porfa", "el permiso me vence el 15 de julio"),
        ("cobro 2100 recordalo", "cobro 2100"),
        ("apuntate que el pin del trastero es 4471", "el pin del trastero es 4471"),
        ("agendá que la alarma es 4471", "la alarma es 4471"),
        ("guarda este código del portal: 8841", "código del portal: 8841"),
        ("guarda esta clave: Gatitos2024", "clave: Gatitos2024"),
        ("apúntame este número de la niñera: 600123456", "número de la niñera: 600123456"),
        ("anota dentista el lunes a las 5", "dentista el lunes a las 5"),
        ("apunta ahí cita con la cardióloga el 12 de mayo a las 10", "cita con la cardióloga el 12 de mayo a las 10"),
    ],
)
def test_what_is_asked_for_in_passing_is_remembered(said: str, remembered: str) -> None:
    request = split_request(said)
    assert said[request.start : request.end].strip() == remembered


@pytest.mark.parametrize("said", ["soy alergico al marisco eh", "soy alergico al marisco porfa"])
def test_courtesy_is_no_part_of_a_thing(said: str) -> None:
    assert [fact.object for fact in read_facts([Utterance(said, AT)], "spanish")] == ["marisco"]


def test_why_it_is_to_be_remembered_is_not_what_is() -> None:
    assert split_request("Acuérdate, por favor, que me la ha dicho el cura al oído.").kind == "before"
    assert split_request("Acuérdate de que el seguro vence en marzo.").kind == "inside"


def test_what_a_thing_is_may_come_before_its_word() -> None:
    found = with_named("60-2218 lautet sie, die brauche ich immer.", "meine Personalnummer")
    assert found == "Meine Personalnummer ist 60-2218"


@pytest.mark.parametrize(
    "said",
    [
        "no sé si anota por ahí las cosas",
        "se te pasó la hora",
        "他在本子上记了一笔账",
        "你备注过这个客户吗？",
        "my kids remember that",
        "I'll remember that.",
        "my whole family remember it",
        "lo último que puse, ese sí guárdalo",
        "people who are old remember that",
        "i work at 88 and never forget it",
        "ich merk dir das",
        "busca la letra de acuérdate",
        "mi lema es no te olvides",
        "mi jefe me dijo apúntalo",
        "me apunté a la cita del martes 5",
        "él apunta la cita del 12 de mayo",
        "guarda este juego de llaves en el cajón",
    ],
)
def test_what_only_has_the_words_asks_for_nothing(said: str) -> None:
    assert split_request(said).kind == "none"


@pytest.mark.parametrize(
    ("said", "kind", "told"),
    [
        ("mi contraseña del netflix es simba_2020 pero no la apuntes", "own", "simba_2020"),
        ("mi clave es 4471 pero no lo guardes", "own", "4471"),
        ("my pin is 4471: delete that please", "own", ""),
        ("mi clave es 4471, no la guardes por favor", "own", "4471"),
        ("el pin es 4471 no lo apuntes", "own", "4471"),
        ("la de netflix es simba_2020, no la apuntes", "own", "simba_2020"),
        ("cobro 2100 pero no lo anotes", "own", "2100"),
        ("tengo ansiedad pero eso no lo guardes", "own", "ansiedad"),
        ("debo 8000 al banco pero porfa no lo apuntes", "own", ""),
        ("y la del banco no la guardes eh", "topic", ""),
        ("lo de mi jefe no lo guardes", "nearby", ""),
        ("my netflix password is simba_2020 but don't write it down", "own", "simba_2020"),
        ("my code is 4471 dont write it down", "own", "4471"),
        ("i have anxiety but please don't keep that", "own", "anxiety"),
        ("i earn 2100 but don't write it down pls", "own", ""),
        ("meine pin ist 4471 speicher das nicht", "own", "4471"),
        ("meine pin ist 4471, merk dir die nicht", "own", "4471"),
        ("mein netflix passwort ist simba_2020 aber schreib es nicht auf", "own", "simba_2020"),
        ("ich verdiene 2100, schreib das bitte nicht auf", "own", ""),
    ],
)
def test_what_is_not_to_be_kept_is_said_behind_it(said: str, kind: str, told: str) -> None:
    assert [request.kind for request in forget_requests(said)] == [kind]
    facts = read_facts([Utterance(said, AT)], "english")
    assert told == "" or [fact.object for fact in facts] == [told]
    assert [fact.change for fact in facts if fact.change is not None] == []


@pytest.mark.parametrize(
    "said",
    [
        "Anna: forget it please",
        "the report: forget it",
        "the train - forget it, we walk",
        "Das Auto: vergiss es",
        "no la guardes en el cajón",
        "no lo apuntes con rotulador",
        "mi clave es 4471, no la guardes en el cajón",
        "el pin es 4471 no lo apuntes con rotulador",
        "mi madre me dijo que no lo apuntes",
        "mi jefe dice que no lo guarde",
        "para que mi madre no lo apunte",
        "si llueve no lo apuntes",
        "tomo pastillas pero no las guardo",
        "i write songs but don't keep them",
        "I use an app but I never log it",
        "my doctor said don't write it down",
        "my pin is 4471, don't keep it in the drawer",
        "ich lüge oft und merk das nicht",
        "er sagt dass wir das nicht speichern",
        "meine pin ist 4471, schreib sie nicht mit edding auf",
    ],
)
def test_what_only_has_the_words_is_not_to_be_forgotten(said: str) -> None:
    assert forget_requests(said) == []
    assert all(fact.change is None for fact in read_facts([Utterance(said, AT)], "english"))


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        ("olvida lo del pin del trastero porfa ya lo hemos cambiado", "pin del trastero"),
        ("oye borra eso de la separación no quiero que lo vea", "la separación"),
        ("olvida lo que dije de lucía era mentira", "lucía"),
        ("borra lo de mi jefe, no quiero q quede por escrito", "mi jefe"),
        ("olvida lo que te conté de mi hermano porque me va a matar", "mi hermano"),
        ("borra lo de mi sueldo que es privado", "mi sueldo"),
        ("borra lo del sueldo", "sueldo"),
        ("olvida lo del embarazo ya no es verdad", "embarazo"),
        ("olvida lo de que ya no quiero a mi marido", "que ya no quiero a mi marido"),
        ("olvida lo de cuando era niña", "cuando era niña"),
        ("olvida lo del piso que es de mi madre", "piso que es de mi madre"),
        ("forget the thing about the pin pls we changed it", "the pin"),
        ("forget the wifi one, we switched provider", "wifi"),
        ("forget about the garage code", "garage code"),
        ("forget the netflix thing, i cancelled it", "netflix"),
        ("forget what i said about lucy it was a lie", "lucy"),
        ("please forget what i said about my job cause its private", "my job"),
        ("forget what i said about the house we bought", "the house we bought"),
        ("forget the thing about how it was in the army", "how it was in the army"),
        ("vergiss das mit lucy das war gelogen", "lucy"),
        ("Salary: forget it please", "salary"),
        ("My salary: forget it please.", "salary"),
        ("my divorce - forget it please", "divorce"),
        ("Mein Gehalt: bitte vergessen", "gehalt"),
        ("Mi sueldo: bórralo porfa", "sueldo"),
        ("vergiss was ich über meinen chef gesagt habe das war gelogen", "meinen chef"),
        ("lösch das mit der trennung ich will nicht dass er das sieht", "der trennung"),
        ("vergiss das mit der bitte meiner mutter", "der bitte meiner mutter"),
    ],
)
def test_why_it_is_to_be_forgotten_is_not_what_is(said: str, topic: str) -> None:
    assert [request.topic for request in forget_requests(said)] == [topic]


@pytest.mark.parametrize(
    "said",
    [
        "forget the blue one",
        "forget the door, leave it open",
        "forget the alarm, wake me at 8",
        "forget the account, I'll pay cash",
        "forget the dentist thing, what's for dinner",
    ],
)
def test_who_lets_something_be_asks_to_forget_nothing(said: str) -> None:
    assert forget_requests(said) == []


def test_a_request_to_forget_is_no_line_of_a_note() -> None:
    said = "Borra lo de mi jefe, no quiero que quede por escrito que bebe en la oficina."
    told = "Mi jefe nuevo se llama Fermín Osorio y empezó en marzo en la oficina de Lugo."
    messages = [Message(number, "user", text, AT, 20) for number, text in enumerate((told, said))]
    assert notable_lines(messages) == [told]


@pytest.mark.parametrize(
    "said",
    [
        "no no no don't write that down",
        "hmm actually no dont keep that",
        "ne warte, das musst du dir nicht merken",
        "bueno no, mejor no lo guardes",
    ],
)
def test_what_says_nothing_before_it_is_about_what_was_said(said: str) -> None:
    assert [request.kind for request in forget_requests(f"My ex lives on Carver Street now. {said}")] == ["previous"]
