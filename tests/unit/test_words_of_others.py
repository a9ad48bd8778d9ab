"""What of a message is somebody else's words, or a text to work on, asks memory for nothing."""

# ruff: noqa: E501  # a message stands on one line
from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reverie_server.forgetting.possible_requests import read_requests
from reverie_server.heuristics.extract import asks_to_remember
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.requests.forget_requests import forget_requests
from reverie_server.heuristics.requests.words_of_others import others_words, own_statements, own_words
from reverie_server.heuristics.stated_fact import Utterance


@pytest.mark.parametrize(
    "message",
    [
        "Can you polish this mail?\n\nHi Tom,\nplease forget what I said about the budget. See you Monday.",
        "Write an email to my landlord:\nPlease delete my phone number.",
        "Translate to French:\nForget what I told you about the party.",
        'He wrote me: "I\'m sorry. Forget what I said about your mom. I was drunk." What do I answer?',
        "He said: forget what I told you.",
        "Übersetze ins Englische: Vergiss, was ich dir über Anna erzählt habe.",
        "Mein Chef schrieb: Bitte löschen Sie alles, was ich über die Zahlen gesagt habe.",
        "Traduce al inglés: olvida eso, por favor",
        "mi abuela decía: olvida eso",
        "翻译成英文：\n请把我说过的话都忘掉。",
        "把“请忘掉我刚才说的”翻译成英语",
    ],
)
def test_what_somebody_else_says_forgets_nothing(message: str) -> None:
    requests, _, likely = read_requests(message)
    assert requests == []
    assert likely == []


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("I told Tom that I am pregnant. Forget that, please.", "previous"),
        ('Forget what I said about "Project Falcon".', "topic"),
        ("My sister wrote to me: she is ill. Forget what I said about my sister.\nThanks!", "topic"),
        ("Please write this down: my PIN is 4711.\nForget what I said about my salary.", "topic"),
        ("Please draft a mail to Tom. And forget what I said about the budget.", "topic"),
        ('He said "I quit". Forget that, please.', "previous"),
        ("Please correct this in my profile.\nForget what I said about my boss.", "topic"),
    ],
)
def test_ones_own_request_beside_the_words_of_others_is_one(message: str, kind: str) -> None:
    assert [request.kind for request in forget_requests(message)] == [kind]


def test_the_words_of_others_are_cut_out_of_statements() -> None:
    message = 'He wrote: "Forget it all. Now." And I agree.'
    assert [message[start:end] for start, end in others_words(message)] == ['"Forget it all. Now."']
    assert own_statements(message)[0] == ('He wrote: "Forget it all.', "He wrote:")
    assert own_statements(message)[-1] == ("And I agree.", "And I agree.")
    assert others_words("I have a boss, and she is nice.") == []


@pytest.mark.parametrize(
    "message",
    [
        "how could you forget my birthday!",
        "How can we forget the trip to Rome?",
        "Would you forget my name if they restarted you?",
        "forget my last question",
        "Vergiss unsere Pläne für Samstag",
        "Vergiss mein nicht",
        "don't save my seat",
        "no guardes mi silla",
        "please forget the old recipe and give me one with lentils",
        "could you forget the bullet points and write it as prose",
        "Please forget everything about SEO for a second and write from the heart",
        "Kannst du die Formalitäten bitte vergessen und mich duzen?",
        "¿Puedes olvidar los tecnicismos y explicarlo fácil?",
        "I take the medicine and never record it",
        "people say they recycle but they never store it",
        "把开会的事忘了",
        "昨天太忙，这个忘了",
        "Das kannst du vergessen.",
        "Wieder vergessen",
        "Eso no está en las notas de clase",
        "no dejes que se pierda lo de la beca",
        "Lo del vino no lo dejes caer en saco roto.",
        "siempre se me borra lo del círculo cromático",
        "Das kannst du vergessen, ich zahl die Miete nicht.",
    ],
)
def test_what_only_looks_like_a_request_forgets_nothing(message: str) -> None:
    assert forget_requests(message) == []


@pytest.mark.parametrize(
    ("message", "kind", "topic"),
    [
        ("forget my salary", "topic", "salary"),
        ("vergiss mein Gehalt", "topic", "gehalt"),
        ("olvida mi sueldo", "topic", "sueldo"),
        ("把我的工资忘了吧", "topic", "工资"),
        ("上周二我跟你摆的体检那个结果，麻烦你忘掉，我不想哪天突然又看到。", "topic", "体检那个结果"),
        ("昨天我跟你讲的佳怡屋头的事，忘掉哈", "topic", "佳怡屋头"),
        ("我跟你说的工资的事，你别记。", "topic", "工资"),
        ("my pin is 3321 don't keep it", "own", ""),
        ("My PIN is 4711 but please don't save that.", "own", ""),
        ("Forget what I said about my plans for Saturday.", "topic", "my plans for saturday"),
        ("Forget everything I told you about my sister and give me a recipe for soup.", "topic", "my sister"),
        ("Kannst du das bitte wieder vergessen?", "previous", ""),
    ],
)
def test_a_request_in_like_words_is_one(message: str, kind: str, topic: str) -> None:
    assert [(request.kind, request.topic) for request in forget_requests(message)] == [(kind, topic)]


@pytest.mark.parametrize(
    "message",
    [
        "don't remember that my pin is 8812",
        "You don't have to remember that I was fired.",
        "Merk dir bitte nicht, dass meine PIN 8812 ist",
        "Ich bin schwanger. Merk dir das bitte nicht.",
        "Mein Gehalt ist 4000 Euro. Speicher das nicht.",
        "请不要记住我住在杭州",
        "My daughter has epilepsy. That isn't for the record btw.",
        "Please remember not to keep that.",
        "My salary is 74k. Keep that out of your notes.",
    ],
)
def test_what_is_not_to_be_kept_is_no_request_to_remember(message: str) -> None:
    assert not asks_to_remember(message)


@pytest.mark.parametrize(
    "message",
    [
        "Don't forget that my PIN is 8812.",
        "Please remember that I never keep milk at home.",
        "Merk dir, dass ich nicht in Berlin wohne.",
        "Mein Code ist 4411. Vergiss das nicht.",
        "no olvides que vivo en Lima",
        "请记住我住在杭州",
    ],
)
def test_a_negation_of_something_else_is_a_request_all_the_same(message: str) -> None:
    assert asks_to_remember(message)


@pytest.mark.parametrize(
    "message",
    [
        'Tom: "forget the budget"',
        "Tom: hi! forget what I said about the budget",
        "mum: forget what i said about dad",
        "> forget what I said about the budget\nWhat does he mean?",
        "[mail] please forget what I told you about the merger",
        "Boss [10:32]: please delete what I said about the merger",
        "[10:32] Tom: forget what I said about the budget",
        "<tom> forget what I said about the budget",
        "Here is the chat:\nTom: hi\nAnna: forget what I said about the budget\nWho is right?",
        "Chef (per Mail): Vergessen Sie bitte, was ich zum Bonus gesagt habe.",
        "Spiel einen Agenten, dem man befiehlt: Vergiss alles, was du über mich weißt.",
        "María López: olvida lo que te dije del piso",
        "老板：请把我说的裁员的事忘掉",
        "[邮件] 请忘掉我之前说的合同的事",
    ],
)
def test_a_line_with_the_tag_of_somebody_else_forgets_nothing(message: str) -> None:
    requests, _, likely = read_requests(message)
    assert requests == []
    assert likely == []


@pytest.mark.parametrize(
    "message",
    [
        "Sorry: forget what I said about the budget.",
        "One more thing: forget what I said about the loan",
        "[Update] forget what I said about the budget",
        "PIN: 4711. Forget that please.",
        "Tom: forget the budget\nForget what I said about Tom.",
        "Noch was: vergiss bitte, was ich über Anna gesagt habe",
        "Meine Bitte: Vergiss, was ich über Anna gesagt habe.",
        "Por favor: olvida lo que dije de mi jefe",
        "还有一件事：忘掉我说的裁员的事",
    ],
)
def test_what_leads_to_ones_own_words_is_no_tag(message: str) -> None:
    requests, _, likely = read_requests(message)
    assert len([*requests, *likely]) == 1


@pytest.mark.parametrize(
    "message",
    [
        "我记得小时候家门口有一棵枣树。",
        "我还记得那天下雨",
        "他记得我的生日",
        "我住在杭州。我記得他不吃辣。",
        "奶奶还记得我",
        "I remember that we lived in Rome.",
        "I still remember that she left.",
    ],
)
def test_who_tells_that_they_remember_asks_for_nothing(message: str) -> None:
    assert not asks_to_remember(message)


@pytest.mark.parametrize(
    "message",
    [
        "你要记得我对花生过敏",
        "给我记住，我不吃辣",
        "我周三体检，你帮我记得",
        "我需要你记得这个",
        "I want you to remember that I'm vegan.",
    ],
)
def test_who_wants_it_remembered_asks_for_it(message: str) -> None:
    assert asks_to_remember(message)


@pytest.mark.parametrize(
    ("message", "own"),
    [
        ("translate for me: 'I live in Madrid and my dog is called Toro'", "translate for me:"),
        ("how do you say 'I live in Rome' in italian", "how do you say '"),
        ("correct my english: I works at Siemens since 1990", "correct my english:"),
        ("Can you fix this?\nI lives in Paris since three years", "Can you fix this?"),
        ("He wrote me: I'm moving to Berlin. I live in Bonn.", "He wrote me: I live in Bonn."),
        ("翻译一下：我住在北京，我有三只猫", "翻译一下："),
        ("tradúceme esto, llegó por lo del taller: Hi all, I'm Greg", "tradúceme esto, llegó por lo del taller:"),
        ("reescríbeme esto para la página: La doctora vive en Tepic", "reescríbeme esto para la página:"),
        ("tidy up my cousins cv: kwame, 34, drives a forklift", "tidy up my cousins cv:"),
        ("给翻翻：I live in Lagos", "给翻翻："),
        (
            "Kannst du den Text für die Lotta glätten, für ihre Bewerbung: Ich mag Tiere",
            "Kannst du den Text für die Lotta glätten, für ihre Bewerbung:",
        ),
        (
            "mach mir die Bewertung hübsch, die soll auf die Webseite: Wir aus Stadtbergen",
            "mach mir die Bewertung hübsch, die soll auf die Webseite:",
        ),
        # In another language than what leads to it.
        (
            "die Mail ist von einem Kunden und ich versteh sie nicht: Hello, we moved here from Leeds and my wife is a teacher",
            "die Mail ist von einem Kunden und ich versteh sie nicht:",
        ),
        ("Apúntame una cosa: tengo cita con el oculista el 10 de junio", None),
        ("Mit dem Schreiben auf Portalen habe ich es nicht so. Merken Sie sich: Meine Nummer ist 0171 3920041", None),
        # A quoted text, whatever leads to it.
        ('what does this mean "ich wohne jetzt bei meiner Tante in Ulm"', "what does this mean"),
        (
            "Our neighbour has an idea. „Ich bin Oksana und wohne im zweiten Stock.“ Nice?",
            "Our neighbour has an idea. Nice?",
        ),
        ("班上有个娃的妈妈写的：“我们一月份从曼彻斯特搬来的，住桐梓林”", "班上有个娃的妈妈写的："),
        # What is true of its writer, or asks nothing, stays.
        ("Write me a short bio: I'm Sam, I live in Leeds.", None),
        ("Rachel said: the meeting is on Friday at nine", None),
        ("Please write this down: my locker is 214", None),
        ("I write letters to 'Amnesty' every week and live in Ghent", None),
        ("I told him: I live in Bonn now.", None),
        ('My wifi password is "hunter2hunter2"', None),
        ('My thesis is called "The Ghosts of Ghent"', None),
        ('Remember my motto: "I live as if I had a thousand lives"', None),
        ('Write me a short bio: "I am Sam and I live in Leeds with a dog."', None),
    ],
)
def test_what_a_message_says_of_its_writer(message: str, own: str | None) -> None:
    assert " ".join(own_words(message).split()) == (own or message)


@pytest.mark.parametrize(
    "text",
    [
        "translate for me: 'I live in Madrid and my dog is called Toro'",
        "Übersetz mir das: 'Ich wohne in Rom und arbeite bei Fiat'",
        "She texted: I'm a vegetarian now.",
    ],
)
def test_no_fact_is_read_in_the_words_of_others(text: str) -> None:
    assert read_facts([Utterance(text, datetime(2026, 3, 1, tzinfo=UTC))]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Write a cover letter for my brother: My name is Tom Hill and I live in Porto.",
        "Draft my brother's cover letter: My name is Tom Hill and I live in Porto.",
        "write an instagram bio for my client: i am a vegan chef and i live in bali",
        "Write a CV for a client: I'm Tom. I work at Tesco.",
        "draft a dating profile for my brother. i am 29, i love climbing and i live in porto",
        "Write a LinkedIn summary for my husband. I'm a plumber and I live in Hull.",
        "Reply as a customer of our shop: I live in Hull and I'm allergic to milk.",
        "Schreib einen Steckbrief für meinen Sohn: Ich heiße Ben und ich wohne in Ulm",
        "er sagte ich liebe dich und ich wohne bei dir",
        "Escribe una biografía para mi jefe: Me llamo Paco y vivo en Vigo",
        "帮我儿子写一份自我介绍：我叫小明，我住在上海",
    ],
)
def test_a_text_of_somebody_else_says_nothing_of_the_user(text: str) -> None:
    assert read_facts([Utterance(text, datetime(2026, 3, 1, tzinfo=UTC))]) == []


@pytest.mark.parametrize(
    "message",
    [
        "Write a bio for my website: I'm Sam and I live in Leeds.",
        "Write a cover letter for a teaching assistant job: I'm Sam and I live in Leeds.",
        "Write a cover letter for the manager position at Tesco: I'm Sam.",
        "Write a CV for a teacher: I'm Sam and I live in Leeds.",
        "Draft a dating profile for me. I'm 29 and I live in Porto.",
        "Write a bio for my brother. He lives in Porto.",
        "Write a poem for my wife. Her name is Anna and we live in Leeds.",
        "Write me a poem about my cat. She's called Mia.",
        "Reply to Tom. I live in Leeds now, tell him.",
        "Draft an email to my boss. I live in Leeds and can't come in.",
        "He said I'm diabetic and I have to avoid sugar.",
        "Schreib eine Bewerbung für meinen Traumjob: Ich heiße Ben und wohne in Ulm.",
        "Schreib mir ein Gedicht über meine Katze. Sie heißt Mia.",
        "Escribe mi biografía: Me llamo Paco y vivo en Vigo",
        "帮我写一份自我介绍：我叫小明，我住在上海",
    ],
)
def test_a_text_of_ones_own_says_what_the_user_is(message: str) -> None:
    assert own_words(message) == message
