"""What is of use in a month, and what is not."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.entries import kinds_of
from reverie_server.heuristics.lasting import lasts


def does_last(text: str, language: str) -> bool:
    cues = cues_of(folded(text), all_cues()[language])
    return lasts(text, kinds_of(text, cues), cues)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "Our dog Biscuit is diabetic and gets insulin at 7 in the morning."),
        ("english", "My sister Nora lives in Porto."),
        ("english", "We decided today to rent the house in Whitby."),
        ("english", "Therefore we decided to rent the house in Whitby."),
        ("english", "The standup is on Tuesdays."),
        ("english", "Monday and Thursday I always train with my cousin in Leith."),
        ("german", "Ich wohne hier in Kassel und arbeite bei der Bahn."),
        ("english", "I need a wheelchair and I need my reading glasses."),
        ("english", "We've just moved to York, and I always sit in the quiet carriage."),
        ("german", "Ich brauche eine Gehhilfe und habe eine Brille."),
        ("spanish", "Necesito una silla de ruedas y vivo en Lugo."),
        ("german", "Meine Tochter Lene ist gegen Nüsse allergisch."),
        ("german", "Ich trinke meinen Kaffee immer ohne Zucker."),
        ("spanish", "Mi hermano Iker es vegetariano."),
        ("spanish", "Trabajo como enfermera en Bilbao."),
        ("spanish", "Siempre trabajo por la mañana en Bilbao."),
        ("spanish", "Mi hermana corre cada mañana y vive en Lugo."),
        ("chinese", "我女儿对花生过敏，她在杭州上学。"),
        ("chinese", "我们决定明年搬到成都。"),
    ],
)
def test_what_is_and_what_was_decided_lasts(language: str, text: str) -> None:
    assert does_last(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "I watered the office fern this morning."),
        ("english", "I'm so tired."),
        ("english", "She cannot eat gluten."),
        ("english", "You should wear a hat."),
        ("english", "Write a card for Nora, my sister in Porto."),
        ("english", "I need to buy milk."),
        ("english", "Where is the key?"),
        ("english", "I need a letter to a customer who has put a grand piano in front of a radiator."),
        ("english", "Secondly, I need a short mail to Jochen Rauh, his English is better than my German."),
        ("english", "Evening, I need a poster written in the next twenty minutes."),
        ("english", "Now I've got to ring my sister and I want to stay calm."),
        ("english", "Now can you look at boats, my cousin and I are off to Skye in June."),
        ("english", "A man called Bates wants a shed moved and I want it to sound friendly."),
        ("english", "Sunday and I'm still in my pyjamas, look at me."),
        ("english", "I've just got in from my aunt's and I'm worn out."),
        ("english", "I'm stood outside a shop with my dog."),
        ("german", "Mein Chef ist heut grantig, weil wir alle zu spät waren."),
        ("german", "Mein Nachbar hat ihm immer nur Ärger gemacht"),
        ("german", "Hilf mir mal mit dem Satz, der immer so anfängt:"),
        ("spanish", "Hola, necesito una carta para mi casera, que es de Cali."),
        ("english", "I am sitting in the van outside a church in Bedford, eating a sandwich."),
        ("english", "I have just spoken to my daughter for an hour."),
        ("german", "Ich brauch eine Mail an meine Steuerberaterin, die heißt auch Katrin."),
        ("german", "Ich sitz im Sprinter und ess eine Leberkässemmel, besser ist es nie."),
        ("spanish", "Necesito un correo para mi casero, que es de Tepic."),
        ("chinese", "我想要一封给房东的邮件，他是外国人。"),
        ("english", "Thanks, that is great!"),
        ("english", "Hence my knees are always sore."),
        ("german", "Ich habe heute die Pflanzen gegossen."),
        ("german", "Ich bin so müde."),
        ("german", "Deshalb hab ich auch immer Knie."),
        ("german", "Sie verträgt keine Nüsse."),
        ("spanish", "Hoy regué las plantas."),
        ("spanish", "así q el gimnasio lo tengo en el portal"),
        ("spanish", "Estoy muy cansada."),
        ("spanish", "La cena con Iker es mañana en Bilbao."),
        ("spanish", "Mañana trabajo en Bilbao."),
        ("spanish", "Ella no puede comer gluten."),
        ("chinese", "我今天浇了花。"),
        ("chinese", "我好累。"),
        ("chinese", "她对花生过敏。"),
    ],
)
def test_moments_feelings_errands_and_words_without_their_referent_do_not(language: str, text: str) -> None:
    assert not does_last(text, language)
