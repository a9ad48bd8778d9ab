"""Pairs of statements as a second voice says them: what the later one closes, and what it leaves alone."""

from __future__ import annotations

import pytest
from tests.unit.test_superseding import closed

CLOSED = [
    ("english", "We're based in Porto at the moment.", "We relocated to Braga over the summer."),
    ("english", "My flatmate is Jonas.", "My new flatmate is Ines."),
    ("english", "I'm a sous-chef at Casa Verde.", "I started at Bistro Lune as head chef."),
    ("english", "The choir rehearsal is on Wednesdays at 7pm.", "Choir rehearsal moved to Mondays at 8pm."),
    ("english", "My gym is FitBox on Elm Street.", "I cancelled my FitBox membership."),
    ("english", "Our staging server is called heron.", "Our staging server is now called osprey."),
    ("english", "I use Notion for my notes.", "I switched from Notion to Obsidian for my notes."),
    ("english", "The passport is in the top drawer of the desk.", "I moved the passport to the safe."),
    ("english", "My landlord is Mr Hale.", "My landlord is now Mrs Quint."),
    ("english", "I drive a Golf.", "I sold the Golf and drive a Zoe now."),
    ("english", "The launch is on 12 June.", "The launch has been pushed back to 3 July."),
    ("english", "I'm a vegetarian.", "I'm vegan now."),
    ("english", "My alarm code is 5521.", "The alarm code changed to 9034."),
    ("english", "My favourite band is Elbow.", "Actually, my favourite band is The National."),
    ("german", "Wir wohnen in Mainz.", "Seit Juni wohnen wir in Worms."),
    ("german", "Mein Trainer heißt Lukas.", "Meine neue Trainerin heißt Svenja."),
    ("german", "Ich arbeite als Lehrerin an der Goetheschule.", "Ich habe bei der Volkshochschule angefangen."),
    ("german", "Die Chorprobe ist mittwochs um 19 Uhr.", "Die Chorprobe wurde auf Montag um 20 Uhr verlegt."),
    ("german", "Ich esse Fleisch.", "Ich esse kein Fleisch mehr."),
    ("german", "Wir nutzen Jira für Tickets.", "Wir sind von Jira auf Linear umgestiegen."),
    ("german", "Der Reisepass liegt in der Schublade.", "Der Reisepass liegt jetzt im Tresor."),
    ("german", "Mein Vermieter ist Herr Hahn.", "Mein Vermieter ist jetzt Frau Quint."),
    ("german", "Ich fahre einen Golf.", "Ich habe den Golf verkauft."),
    ("german", "Die Abgabe ist am 12. Juni.", "Die Abgabe wurde auf den 3. Juli verschoben."),
    ("german", "Mein Lieblingsbuch ist Momo.", "Mein Lieblingsbuch ist jetzt Krabat."),
    ("german", "Der Code für die Garage ist 5521.", "Der Code für die Garage ist jetzt 9034."),
    ("german", "Das Sommerfest ist am Freitag.", "Das Sommerfest fällt aus."),
    ("german", "Mein Kollege Timo leitet das Projekt Adler.", "Timo hat gekündigt."),
    ("spanish", "Vivimos en Bilbao.", "Desde junio vivimos en Vitoria."),
    ("spanish", "Mi entrenador es Lucas.", "Mi nueva entrenadora es Sara."),
    ("spanish", "Soy profesora en el instituto Cervantes.", "Empecé a trabajar en la academia Luz."),
    ("spanish", "El ensayo del coro es el miércoles a las 19:00.", "El ensayo del coro se pasó al lunes a las 20:00."),
    ("spanish", "Como carne.", "Ya no como carne."),
    ("spanish", "Usamos Jira para los tickets.", "Cambiamos de Jira a Linear."),
    ("spanish", "El pasaporte está en el cajón.", "El pasaporte está ahora en la caja fuerte."),
    ("spanish", "Mi casero es el señor Peña.", "Mi casero ahora es la señora Gil."),
    ("spanish", "Conduzco un Golf.", "Vendí el Golf."),
    ("spanish", "La entrega es el 12 de junio.", "La entrega se aplazó al 3 de julio."),
    ("spanish", "Mi libro favorito es Rayuela.", "Mi libro favorito ahora es Ficciones."),
    ("spanish", "El código del garaje es 5521.", "El código del garaje ahora es 9034."),
    ("spanish", "La fiesta de verano es el viernes.", "La fiesta de verano se ha cancelado."),
    ("spanish", "Me gusta el café.", "Ya no me gusta el café."),
    ("chinese", "我们家在杭州。", "我们搬到苏州了。"),
    ("chinese", "我的教练是李强。", "我的新教练是王芳。"),
    ("chinese", "我在第一中学当老师。", "我跳槽到了新东方。"),
    ("chinese", "合唱排练在周三晚上七点。", "合唱排练改到周一晚上八点。"),
    ("chinese", "我吃肉。", "我不再吃肉了。"),
    ("chinese", "我们用Jira管理任务。", "我们从Jira换到了Linear。"),
    ("chinese", "护照在抽屉里。", "护照现在在保险箱里。"),
    ("chinese", "我的房东是张先生。", "我的房东现在是刘女士。"),
    ("chinese", "我开的是大众。", "我把大众卖了。"),
    ("chinese", "交稿时间是六月十二日。", "交稿时间推迟到七月三日。"),
    ("chinese", "我最喜欢的书是三体。", "我最喜欢的书现在是活着。"),
    ("chinese", "车库密码是5521。", "车库密码改成了9034。"),
    ("chinese", "夏日聚会在周五。", "夏日聚会取消了。"),
    ("chinese", "我喜欢喝咖啡。", "我不喜欢喝咖啡了。"),
]
LEFT_ALONE = [
    ("english", "I live in Porto.", "My brother moved to Braga."),
    ("english", "I live in Porto.", "We went to Braga for the weekend."),
    ("english", "I work at Casa Verde.", "I used to work at Bistro Lune."),
    ("english", "I like running.", "I like swimming now too."),
    ("english", "My doctor is Dr Hale.", "My dentist is Dr Quint."),
    ("english", "My laptop password is rook-1.", "The office Wi-Fi password is pawn-2."),
    ("english", "I drink coffee.", "I drank tea yesterday."),
    ("english", "The launch is on 12 June.", "The launch party is on 14 June."),
    ("english", "I live in Porto.", "We could move to Braga one day."),
    ("english", "My sister Mia lives in Rome.", "My colleague Mia lives in Turin."),
    ("english", "My car is a Golf.", "My car is blue."),
    ("english", "I'm a vegetarian.", "My husband is vegan."),
    ("german", "Ich wohne in Mainz.", "Mein Bruder ist nach Worms gezogen."),
    ("german", "Ich wohne in Mainz.", "Wir waren am Wochenende in Worms."),
    ("german", "Ich mag Jazz.", "Ich mag auch Blues."),
    ("german", "Meine Ärztin ist Frau Hahn.", "Meine Zahnärztin ist Frau Quint."),
    ("german", "Ich trinke Kaffee.", "Meine Frau trinkt keinen Kaffee."),
    ("german", "Ich wohne in Mainz.", "Vielleicht ziehen wir nach Worms."),
    ("german", "Die Abgabe ist am 12. Juni.", "Die Abschlussfeier ist am 14. Juni."),
    ("german", "Meine Schwester Mia wohnt in Rom.", "Meine Kollegin Mia wohnt in Turin."),
    ("spanish", "Vivo en Bilbao.", "Mi hermano se mudó a Vitoria."),
    ("spanish", "Vivo en Bilbao.", "Fuimos a Vitoria el fin de semana."),
    ("spanish", "Me gusta el jazz.", "También me gusta el blues."),
    ("spanish", "Mi médica es la doctora Gil.", "Mi dentista es el doctor Peña."),
    ("spanish", "Bebo café.", "Mi mujer no bebe café."),
    ("spanish", "Vivo en Bilbao.", "Quizás nos mudemos a Vitoria."),
    ("spanish", "La entrega es el 12 de junio.", "La fiesta de graduación es el 14 de junio."),
    ("spanish", "Mi hermana Mía vive en Roma.", "Mi colega Mía vive en Turín."),
    ("chinese", "我住在杭州。", "我弟弟搬到苏州了。"),
    ("chinese", "我住在杭州。", "我们周末去了苏州。"),
    ("chinese", "我喜欢爵士乐。", "我也喜欢蓝调。"),
    ("chinese", "我的医生是张医生。", "我的牙医是刘医生。"),
    ("chinese", "我喝咖啡。", "我太太不喝咖啡。"),
    ("chinese", "我住在杭州。", "我们可能搬到苏州。"),
    ("chinese", "交稿时间是六月十二日。", "毕业典礼是六月十四日。"),
    ("chinese", "我妹妹小雨住在北京。", "我同事小雨住在上海。"),
]


@pytest.mark.parametrize(("language", "old", "new"), CLOSED)
def test_the_later_statement_closes_the_earlier(language: str, old: str, new: str) -> None:
    assert closed([old, new], language) == [old]


@pytest.mark.parametrize(("language", "first", "second"), LEFT_ALONE)
def test_the_later_statement_is_about_something_else(language: str, first: str, second: str) -> None:
    assert closed([first, second], language) == []


def test_a_meeting_of_no_other_name_does_not_close_another() -> None:
    assert closed(["The meeting is at 10:00.", "The meeting is at 11:00."]) == []
