"""What sentences state, and what they do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.stated_fact import SELF, Speaker, StatedFact, Utterance

START = datetime(2026, 3, 2, tzinfo=UTC)


def read(*texts: str, language: str = "english", speaker: Speaker = "user") -> list[StatedFact]:
    utterances = [Utterance(text, START + timedelta(minutes=at), speaker) for at, text in enumerate(texts)]
    return read_facts(utterances, language)


def triples(*texts: str, language: str = "english", speaker: Speaker = "user") -> set[tuple[str, str, str]]:
    return {(fact.subject, fact.predicate, fact.object) for fact in read(*texts, language=language, speaker=speaker)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I'm Dana, I work as a nurse at Northside in Leeds.",
            {
                ("user", "name", "Dana"),
                ("user", "works_as", "nurse"),
                ("user", "works_at", "Northside"),
                ("user", "works_in", "Leeds"),
            },
        ),
        ("I work on Orion and report to Bruno.", {("user", "works_on", "Orion"), ("user", "boss", "Bruno")}),
        ("My favourite tea is oolong.", {("user", "favourite tea", "oolong")}),
        ("The spare key is under the blue pot.", {("spare key", "located", "under the blue pot")}),
        ("I'm allergic to peanuts.", {("user", "allergic_to", "peanuts")}),
        ("The deadline is 3 May.", {("deadline", "when", "3 May")}),
        ("Petra is my new boss.", {("user", "boss", "Petra")}),
        # What one asks of the assistant is no denial of what one likes.
        ("And I prefer tea, so don't suggest coffee to me.", {("user", "prefers", "tea")}),
        ("Since Saturday we live in York, in Mill Street.", {("user", "lives_in", "York")}),
        ("I've taken a job at Corve Labs.", {("user", "works_at", "Corve Labs")}),
        ("The shed project is stuck, we're waiting for wood.", {("shed project", "state", "stuck")}),
        (
            "My husband Tom works at Siemens.",
            {("user", "husband", "Tom"), ("Tom", "works_at", "Siemens")},
        ),
    ],
)
def test_what_a_sentence_states(text: str, expected: set[tuple[str, str, str]]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    ("language", "texts", "line"),
    [
        ("english", ["My brother is a nurse. He lives in Dublin."], "My brother lives in Dublin."),
        ("english", ["My sister is a nurse and lives in Cork."], "My sister lives in Cork."),
        ("german", ["Mein Bruder ist Pfleger. Er wohnt in Dublin."], "Mein Bruder wohnt in Dublin."),
        ("german", ["Meine Mutter ist Ärztin.", "Sie wohnt in Bonn."], "Meine Mutter wohnt in Bonn."),
        ("spanish", ["Mi hermano es enfermero. Él vive en Dublín."], "Mi hermano vive en Dublín."),
        ("spanish", ["Mi hermana es maestra y vive en Cádiz."], "Mi hermana vive en Cádiz."),
        ("chinese", ["我弟弟是护士。他住在都柏林。"], "我弟弟住在都柏林。"),
        ("chinese", ["我妈妈是医生。", "她住在南京。"], "我妈妈住在南京。"),
        # Of somebody who was named in another language only, a line stays as it was said.
        (
            "spanish",
            ["Mi hermano es enfermero.", "He lives in Dublin, that is my favourite town."],
            "He lives in Dublin",
        ),
    ],
)
def test_who_is_meant_stands_in_a_line_in_the_words_of_its_language(language: str, texts: list[str], line: str) -> None:
    found = {fact.text for fact in read(*texts, language=language) if fact.predicate == "lives_in"}
    assert len(found) == 1
    assert found.pop().startswith(line)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks so much, that was really helpful!",
        "Do I live in Leeds?",
        "I might move to Oslo next year.",
        "If I moved to Oslo, I would work at Statoil.",
        "I wish I lived in Oslo.",
        "You should drink more water.",
        "I'm so tired today.",
        "She lives in Bonn.",
        'He wrote "I live in Rome and work at the Vatican" on the wall.',
        "My doctor told me I should avoid salt.",
    ],
)
def test_what_states_no_fact(text: str) -> None:
    assert triples(text) == set()


@pytest.mark.parametrize(
    ("said", "predicate", "object_"),
    [
        ("I live in St. Albans.", "lives_in", "St. Albans"),
        ("I work at St. Mary's Hospital in York.", "works_at", "St. Mary's Hospital"),
        ("My sister works at Mt. Sinai.", "works_at", "Mt. Sinai"),
        ("Meine Zahnärztin ist Frau Dr. Ahn.", "dentist", "Frau Dr. Ahn"),
        ("Ich wohne in St. Gallen und arbeite als Koch.", "lives_in", "St. Gallen"),
        ("My brother is 6 ft. My sister lives in York.", "lives_in", "York"),
        ("My house is in Elm St. My sister lives in York.", "located", "in Elm St"),
    ],
)
def test_the_point_of_a_name_ends_nothing(said: str, predicate: str, object_: str) -> None:
    facts = read(said)
    assert object_ in [fact.object for fact in facts if fact.predicate == predicate]
    assert not any("\ua78f" in f"{fact.text}{fact.subject}{fact.object}" for fact in facts)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("english", "Raj is going, and Helen Price is our new head.", ("user", "boss", "Helen Price")),
        ("english", "I'm being made site supervisor.", ("user", "works_as", "site supervisor")),
        ("english", "Tom's not my manager anymore, it's Ines now.", ("user", "boss", "Ines")),
        ("english", "Tom is no longer my manager, it's Ines now.", ("user", "boss", "Ines")),
        ("german", "Tom ist nicht mehr mein Chef, jetzt ist es Ines.", ("user", "boss", "Ines")),
        ("german", "Mein Chef ist nicht mehr Tom, sondern Ines.", ("user", "boss", "Ines")),
        ("spanish", "Tom ya no es mi jefe, ahora es Inés.", ("user", "boss", "Inés")),
        ("chinese", "老王不是我老板了，现在是李娜。", ("user", "boss", "李娜")),
        ("chinese", "俺叫王大柱，家在保定。", ("user", "name", "王大柱")),
        ("chinese", "俺叫潘海生，四十六，属羊的。", ("user", "name", "潘海生")),
        # A name that is written by its sound is cut at no adverb.
        ("chinese", "我的新老板是佩特拉。", ("user", "boss", "佩特拉")),
        ("chinese", "我妹妹小丽特温柔。", ("user", "sister", "小丽")),
        ("chinese", "俺闺女叫潘晓燕，在郑州念大学。", ("user", "daughter", "潘晓燕")),
        ("chinese", "全家搬到许昌了，租在魏都区。", ("user", "lives_in", "许昌")),
        ("chinese", "我把吉他卖了。", ("user", "quit", "吉他")),
        ("chinese", "家住太原小店区，老两口过日子。", ("user", "lives_in", "太原小店区")),
        ("chinese", "我是老王，五十六了。", ("user", "age", "五十六")),
        ("chinese", "我媳妇儿姓赵，在医院当护士。", ("user's wife", "works_as", "护士")),
        ("chinese", "我在西二旗上班，写代码的。", ("user", "works_as", "程序员")),
        ("chinese", "我在成都做药剂师。", ("user", "works_in", "成都")),
        ("chinese", "我在康宁大药房做药剂师。", ("user", "works_at", "康宁大药房")),
        ("chinese", "我妹妹在深圳当老师。", ("user's sister", "works_in", "深圳")),
        ("chinese", "我在永辉超市当收银员。", ("user", "works_at", "永辉超市")),
        ("chinese", "我老家是山东菏泽的。", ("user", "from", "山东菏泽")),
        ("chinese", "咱家养了条土狗，叫黑子。", ("user", "dog", "黑子")),
        ("chinese", "最近换到望京上班了。", ("user", "works_at", "望京")),
        ("chinese", "房子租到亦庄去了。", ("user", "lives_in", "亦庄")),
        ("chinese", "我们组长换了，现在是小孟。", ("user", "组长", "小孟")),
        ("english", "Last June I moved to Leeds.", ("user", "lives_in", "Leeds")),
        ("english", "I was born in Oslo and grew up in Bergen.", ("user", "from", "Oslo")),
        ("english", "My sister's in Berlin these days.", ("user's sister", "lives_in", "Berlin")),
        ("english", "My GP took me off statins.", ("user", "takes", "statins")),
        ("english", "The therapist switched me from sertraline to fluoxetine.", ("user", "switched", "fluoxetine")),
        ("english", "I've always worked as a nurse.", ("user", "works_as", "nurse")),
        ("english", "Raj told me today that I'm being made site supervisor.", ("user", "works_as", "site supervisor")),
        ("german", "Ich bin Physiotherapeutin und wohne in Kiel.", ("user", "works_as", "Physiotherapeutin")),
        ("german", "Seit heute bin ich Pflegefachfrau.", ("user", "works_as", "Pflegefachfrau")),
        ("german", "Mara heiß ich, Mara Lindinger, im dritten Jahr Azubi.", ("user", "name", "Mara")),
        ("german", "Wir haben eine WG in Kumpfmühl, dritter Stock.", ("user", "lives_in", "Kumpfmühl")),
        ("german", "Ab heute ist unser Zuhause in Stadtamhof.", ("user", "lives_in", "Stadtamhof")),
        ("english", "Gareth Pryce is the name.", ("user", "name", "Gareth Pryce")),
        # A name is no month and no day.
        ("english", "My name is Margit, I am fifty-two.", ("user", "name", "Margit")),
        ("english", "My name is April.", ("user", "name", "April")),
        ("spanish", "Mi nombre es Domingo.", ("user", "name", "Domingo")),
        ("english", "Callum Durie's the name.", ("user", "name", "Callum Durie")),
        ("german", "ich bin Anke Brück 41 und leite die Küche in Rostock.", ("user", "name", "Anke Brück")),
        ("chinese", "hi 第一次用～我叫林可依，29，坐标厦门", ("user", "name", "林可依")),
        ("chinese", "我家那位叫阿哲，在机场做地勤，三班倒", ("阿哲", "works_at", "机场")),
        ("english", "I'm only 54.", ("user", "age", "54")),
        ("spanish", "En Las Fuentes vivo desde hace año y medio.", ("user", "lives_in", "Fuentes")),
        ("german", "Meine beste Freundin Tessa wohnt in Ulm.", ("user", "friend", "Tessa")),
        ("german", "Mein guter Freund Jonas wohnt in Ulm.", ("user", "friend", "Jonas")),
        ("spanish", "Pilar es mi mejor amiga.", ("user", "friend", "Pilar")),
        ("german", "Der Hautarzt heißt Dr. Brandt.", ("Hautarzt", "is", "Dr. Brandt")),
    ],
)
def test_news_of_work_and_people(language: str, text: str, expected: tuple[str, str, str]) -> None:
    assert expected in triples(text, language=language)


@pytest.mark.parametrize(
    "text",
    [
        "I worked at Shell.",
        "I worked as a nurse in Bonn until 2019.",
        "My sister worked at Shell.",
        "Our new head gasket is Helen's.",
        "Raj told me that I'm being silly.",
        "My head hurts.",
    ],
)
def test_what_only_sounds_like_news_of_work(text: str) -> None:
    assert not {predicate for _, predicate, _ in triples(text)} & {"boss", "works_as", "works_at"}


def test_who_is_alto_in_a_choir_keeps_a_name() -> None:
    names = [fact for fact in read("Ich heiße Meike.", "Ich bin Alt.", language="german") if fact.predicate == "name"]
    assert [(fact.object, fact.is_functional) for fact in names] == [("Meike", True), ("Alt", False)]


def test_what_the_assistant_says_is_no_fact() -> None:
    assert triples("You live in Leeds. I work at Northside.", speaker="assistant") == set()


def test_a_pronoun_stands_for_the_person_named_before() -> None:
    facts = read("My sister Ada visited. She cannot eat gluten.")
    assert [(fact.subject, fact.predicate, fact.object, fact.text) for fact in facts] == [
        ("user", "sister", "Ada", "My sister Ada visited."),
        ("Ada", "avoids", "gluten", "Ada cannot eat gluten."),
    ]
    assert not facts[1].about_user


def test_a_request_to_remember_is_about_the_sentence_before_it() -> None:
    facts = read("The Wi-Fi password of the studio is tulip-4711. Please remember that.")
    assert [(fact.object, fact.is_request, fact.sentence) for fact in facts] == [
        ("tulip-4711", True, "The Wi-Fi password of the studio is tulip-4711.")
    ]
    assert [fact.is_request for fact in read("My locker code is 8812.", "Please remember that.")] == [True]
    assert [fact.text for fact in read("Remember: my locker code is 8812.")] == ["My locker code is 8812."]


def test_two_people_of_one_first_name_stay_two() -> None:
    facts = read("My cousin Anna lives in Kiel.", "Anna from work lives in Bonn.")
    assert {fact.subject for fact in facts if fact.predicate == "lives_in"} == {"Anna", "Anna (from work)"}


def test_lines_of_a_file_are_read() -> None:
    found = triples("- **Name**: Dana", "- Employer: Northside", "- Door code: 4711", speaker="file")
    assert found == {("user", "name", "Dana"), ("user", "works_at", "Northside"), ("Door code", "is", "4711")}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("german", "Ich heiße Dana und arbeite als Krankenpflegerin.", ("user", "works_as", "Krankenpflegerin")),
        ("german", "Seit April wohne ich in Kiel.", ("user", "lives_in", "Kiel")),
        ("german", "Meine neue Chefin ist Petra Lindqvist.", ("user", "boss", "Petra Lindqvist")),
        ("german", "Das WLAN-Passwort im Studio ist tulpe-4711.", ("WLAN-Passwort im Studio", "is", "tulpe-4711")),
        ("german", "Meine Schwester Ada war da. Sie verträgt kein Gluten.", ("Ada", "avoids", "Gluten")),
        ("german", "Wir sind für Orion von Postgres auf SQLite umgestiegen.", ("user", "switched", "SQLite")),
        ("spanish", "Me llamo Dana, trabajo como enfermera y vivo en Sevilla.", ("user", "lives_in", "Sevilla")),
        ("spanish", "Mi nueva jefa es Petra Lindqvist.", ("user", "boss", "Petra Lindqvist")),
        ("spanish", "Mi hermana Ada vino. Ella no puede comer gluten.", ("Ada", "avoids", "gluten")),
        ("spanish", "La cita se movió al viernes a las 15:00.", ("cita", "when", "viernes a las 15:00")),
        ("chinese", "我叫李娜，在北京协和医院工作，是一名护士。", ("user", "works_at", "北京协和医院")),
        ("chinese", "我从北京搬到了上海。", ("user", "lives_in", "上海")),
        ("chinese", "我的新老板是王强。", ("user", "boss", "王强")),
        ("chinese", "我妹妹小红来看我了。她不能吃花生。", ("小红", "avoids", "花生")),
        ("chinese", "备用钥匙在蓝色花盆下面。", ("备用钥匙", "located", "蓝色花盆下面")),
    ],
)
def test_what_sentences_of_other_languages_state(language: str, text: str, expected: tuple[str, str, str]) -> None:
    assert expected in triples(text, language=language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("german", "Vielleicht ziehe ich nach Oslo."),
        ("spanish", "No puedo dormir, se me va la cabeza."),
        ("german", "Wohne ich in Rom?"),
        ("german", "Ich würde gern in Rom wohnen."),
        ("spanish", "Quizás me mude a Oslo."),
        ("spanish", "¿Vivo en Roma?"),
        ("chinese", "我可能会搬到广州。"),
        ("chinese", "我住在北京吗？"),
    ],
)
def test_what_states_no_fact_in_other_languages(language: str, text: str) -> None:
    assert triples(text, language=language) == set()


@pytest.mark.parametrize(
    "text",
    [
        "We're like a family - always supporting each other.",
        "Looks like you had a great day!",
        "Moments like these remind me to appreciate the ones I love.",
        "I just left for our European vacation!",
        "We ended up laughing and having a good time.",
        "I love the color and texture.",
        "My online clothing store has been a roller coaster but rewarding.",
        "Don't quit!",
    ],
)
def test_talk_of_the_moment_states_no_fact(text: str) -> None:
    assert triples(text) == set()


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Ada's birthday is on 4 June.", "Ada's birthday"),
        ("My sister's birthday is on 4 June.", "sister's birthday"),
        ("My birthday is on 4 June.", "birthday"),
    ],
)
def test_a_thing_of_somebody_is_not_the_users_thing_of_that_name(text: str, subject: str) -> None:
    assert [(fact.subject, fact.predicate) for fact in read(text)] == [(subject, "when")]


@pytest.mark.parametrize(
    ("language", "said", "home"),
    [
        ("english", "I've found a flat! I'm moving to Ilkley on Saturday.", "Ilkley"),
        ("english", "We're moving to Ilkley next week, can't wait.", "Ilkley"),
        ("german", "Am Samstag ziehe ich nach Bonn um.", "Bonn"),
        ("german", "Wir ziehen nächste Woche nach Oldenburg.", "Oldenburg"),
        ("spanish", "El sábado me mudo a Gijón.", "Gijón"),
        ("english", "My sister is moving to Leeds on Saturday.", "Leeds"),
        ("german", "Nächsten Monat ziehe ich nach Bonn.", "Bonn"),
        # A plan, no move of a home.
        ("english", "I'm moving to Ilkley next year.", None),
        ("english", "I'm moving to Ilkley.", None),
        ("english", "If all goes well I'm moving to Ilkley on Saturday.", None),
        ("english", "I'm not moving to Ilkley on Saturday.", None),
        ("english", "I'm moving to the Tuesday group next week.", None),
        ("english", "Swimming has moved to Wednesdays.", None),
        ("spanish", "Me mudo a Gijón.", None),
    ],
)
def test_who_moves_on_a_day_lives_there_from_then_on(language: str, said: str, home: str | None) -> None:
    found = read_facts([Utterance(said, datetime(2026, 3, 9, tzinfo=UTC))], language)
    assert [fact.object for fact in found if fact.predicate == "lives_in"] == ([home] if home else [])


@pytest.mark.parametrize(
    ("language", "said", "facts"),
    [
        # What a statement is set against is not its denial, and no correction.
        ("english", "I live in York, not in Leeds.", [("lives_in", "York", "Leeds")]),
        ("german", "Ich wohne in Bonn, nicht in Köln.", [("lives_in", "Bonn", "Köln")]),
        ("german", "Mein Flug geht um 9:40, nicht um 8:40.", [("when", "um 9:40", "8:40")]),
        ("german", "Nenn mich Sam, nicht Samuel.", [("name", "Sam", "Samuel")]),
        ("spanish", "Mi vuelo sale a las 9:40, no a las 8:40.", [("when", "a las 9:40", "8:40")]),
        ("spanish", "Llámame Sam, no Samuel.", [("name", "Sam", "Samuel")]),
        ("german", "Ich wohne nicht mehr in Köln.", [("lives_in", "Köln", "Köln")]),
        # With whom, and where.
        (
            "english",
            "I live with my partner Jonas in Utrecht.",
            [("partner", "Jonas", None), ("lives_in", "Utrecht", None)],
        ),
        (
            "german",
            "Ich wohne mit meinem Freund Jonas in Utrecht.",
            [("partner", "Jonas", None), ("lives_in", "Utrecht", None)],
        ),
        (
            "spanish",
            "Vivo con mi pareja Jonas en Utrecht.",
            [("partner", "Jonas", None), ("lives_in", "Utrecht", None)],
        ),
        ("english", "I moved out of Jonas's place and into a studio in Delft.", [("lives_in", "Delft", None)]),
        # One changes one's tools as one does homes and firms.
        ("english", "I've moved from Vim to VS Code.", [("switched", "VS Code", "Vim")]),
        ("english", "I moved from Leeds to York.", [("lives_in", "York", "Leeds")]),
        ("german", "Ich bin von Vim zu VS Code gewechselt.", [("switched", "VS Code", "Vim")]),
        ("german", "Ich bin von Siemens zu Bosch gewechselt.", [("works_at", "Bosch", "Siemens")]),
        # Who goes to a school is not employed there.
        (
            "english",
            "My daughter Mia started at Hill Road School.",
            [("daughter", "Mia", None), ("school", "Hill Road School", None)],
        ),
        ("english", "My wife works at Hill Road School.", [("works_at", "Hill Road School", None)]),
        # When, moved.
        ("english", "The Orion deadline slipped to 19 April.", [("when", "on 19 April", None)]),
        ("english", "My glass slipped to the floor.", []),
        ("german", "Mein Zahnarzttermin wurde auf den 21. verschoben.", [("when", "am 21", None)]),
        ("german", "Mein Termin ist auf den 19. Mai verschoben worden.", [("when", "am 19. Mai", None)]),
        ("spanish", "La reunión ha sido aplazada al lunes.", [("when", "lunes", None)]),
        (
            "german",
            "Der Zahnarzt hat meinen Termin von Dienstag auf Donnerstag verlegt.",
            [("when", "Donnerstag", None)],
        ),
        ("english", "I changed my number, it's 555 0199 now.", [("phone number", "555 0199", None)]),
        ("german", "Ich leite jetzt das Projekt Orion.", [("leads", "das Projekt Orion", None)]),
    ],
)
def test_what_people_plainly_say_is_read(language: str, said: str, facts: list[tuple[str, str, str | None]]) -> None:
    found = read_facts([Utterance(said, datetime(2026, 3, 9, tzinfo=UTC))], language)
    assert [(each.predicate, each.object, each.change.old_object if each.change else None) for each in found] == facts


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("english", "I'm not drinking coffee today."),
        ("english", "I'm not eating meat this week."),
        ("german", "Heute trinke ich keinen Kaffee."),
        ("spanish", "Hoy no tomo café."),
        ("chinese", "今天我不喝咖啡。"),
        ("chinese", "我住在奥斯陆的时候养过猫。"),
        ("chinese", "他把他那辆车卖了，回家种桃去了。"),
        ("chinese", "我去年做过甲状腺穿刺，良性的。"),
    ],
)
def test_what_was_or_is_soon_over_is_no_fact(language: str, text: str) -> None:
    assert read(text, language=language) == []


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("Tessa ist meine beste Freundin und meine Mitbewohnerin.", "partner"),
        ("Ich lebe in der Prüfungszeit von Energydrinks.", "lives_in"),
        ("Ich lebe gerade in der Trennung.", "lives_in"),
        ("Meine Eltern haben ein Haus in Bonn.", "lives_in"),
        ("Wir haben ein Haus in Dänemark gemietet.", "lives_in"),
    ],
)
def test_words_alone_make_no_partner_and_no_home(text: str, predicate: str) -> None:
    assert predicate not in {named for _, named, _ in triples(text, language="german")}


@pytest.mark.parametrize("text", ["I'm only 54.", "I'm nearly 54.", "I'm just 20 minutes away.", "I'm still 34."])
def test_how_old_one_is_says_no_name(text: str) -> None:
    assert "name" not in {predicate for _, predicate, _ in triples(text)}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("She's vegetarian.", "Ada is vegetarian."),
        ("She's gone vegan.", "Ada has gone vegan."),
        ("She's allergic to nuts.", "Ada is allergic to nuts."),
        ("She works at Tesco's in York.", "Ada works at Tesco's in York."),
    ],
)
def test_a_name_in_place_of_a_pronoun_reads_like_no_possessive(said: str, text: str) -> None:
    found = read_facts([Utterance(f"My sister Ada rang. {said}", START)], "english")
    assert text in [fact.text for fact in found if fact.subject == "Ada"]


@pytest.mark.parametrize(
    ("said", "language", "subject"),
    [
        ("My mum called. The code is 4471.", "english", "code"),
        ("The weather is nice. The code is 4471.", "english", "code"),
        ("Ich habe die ganze Nacht wach gelegen. Der Code ist 4471.", "german", "Code"),
        ("Tengo el día libre. La clave es 4471.", "spanish", "clave"),
        ("我有点累。密码是4471。", "chinese", "密码"),
        ("The gate's round the back. The code is 4471.", "english", "code of gate"),
    ],
)
def test_a_code_is_of_nothing_that_has_none(said: str, language: str, subject: str) -> None:
    [fact] = read_facts([Utterance(said, datetime(2026, 1, 1, tzinfo=UTC))], language)
    assert fact.subject == subject


def test_a_code_is_of_nothing_of_another_message() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    facts = read_facts([Utterance("We rented a shed.", at), Utterance("The code is 4471.", at)])
    assert [fact.subject for fact in facts if fact.object == "4471"] == ["code"]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("german", "Ich bin Mitte 30, wohne in Köln."),
        ("german", "Ich bin Ende 40 und wohne allein."),
        ("german", "ich bin Gleis 12, wo bist du"),
        ("english", "We got a puppy yesterday. The name's Rex."),
        ("english", "Zanzibar's the name, the restaurant in Leeds."),
    ],
)
def test_what_is_no_name_of_the_user(language: str, said: str) -> None:
    assert ("user", "name") not in {(subject, predicate) for subject, predicate, _ in triples(said, language=language)}


@pytest.mark.parametrize(
    ("language", "said", "predicate", "value"),
    [
        ("chinese", "俺叫潘海生，四十六，属羊的。", "name", "潘海生"),
        ("chinese", "我叫林珂怡，29，坐标厦门。", "lives_in", "厦门"),
        ("chinese", "人在成都，玉林那边租的房子。", "lives_in", "成都"),
        ("english", "Desmond Achebe, most folk say Des.", "name", "Desmond Achebe"),
        ("english", "I'm a lighting designer and tech, so I'll be skint.", "works_as", "lighting designer"),
        ("english", "I've been a resident of Mapua.", "lives_in", "Mapua"),
        ("german", "Seit heute bin ich examinierte Pflegefachfrau.", "works_as", "Pflegefachfrau"),
        ("spanish", "Rodrigo Ibáñez para servirte, cocinero desde los diecisiete.", "name", "Rodrigo Ibáñez"),
        ("spanish", "Soy Juan Pérez, para servirle.", "name", "Juan Pérez"),
    ],
)
def test_people_introduce_themselves_in_passing(language: str, said: str, predicate: str, value: str) -> None:
    facts = read_facts([Utterance(said, datetime(2026, 3, 9, tzinfo=UTC))], language)
    assert (SELF, predicate, value) in {(fact.subject, fact.predicate, fact.object) for fact in facts}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("english", "Good morning, everyone says it is raining."),
        ("english", "Ada Wong, people say she is lovely."),
        ("english", "Elon Musk, people say genius."),
        ("english", "New York, they say yes."),
        ("spanish", "Un vaso grande, para servirle."),
        ("spanish", "Mesa Grande, para servirles."),
        ("chinese", "他说人在北京，晚上回来。"),
        ("chinese", "他妈妈，人在成都。"),
        ("chinese", "老公出差了，人在深圳。"),
        ("chinese", "人在旅途，租了辆车。"),
        ("chinese", "朋友推荐的店，坐标上海。"),
        ("german", "Gestern war eine examinierte Pflegefachfrau da."),
    ],
)
def test_others_and_things_are_not_who_one_is(language: str, said: str) -> None:
    facts = read_facts([Utterance(said, datetime(2026, 3, 9, tzinfo=UTC))], language)
    assert not [fact for fact in facts if fact.predicate in ("name", "lives_in", "works_as") and fact.subject == SELF]
