"""Requests to remember and to forget, as people say them: what each is about, and what is no request."""

from __future__ import annotations

import pytest

from reverie_server.heuristics.requests.fact_requests import split_request, with_named
from reverie_server.heuristics.requests.forget_requests import forget_requests


@pytest.mark.parametrize(
    ("sentence", "remembered"),
    [
        ("something you ought to hang on to: the code is heron.", "the code is heron"),
        ("Note for future me: the fuses are in the cellar, don't lose that one", "the fuses are in the cellar"),
        ("So, wichtig, bevor ich's verschlampe: der Zugang ist Mohnfeld", "der Zugang ist Mohnfeld"),
        ("Ich vertrage kein Nickel, denk dran.", "Ich vertrage kein Nickel"),
        ("Die Tasche steht im Flurschrank, das solltest du für mich aufheben.", "Die Tasche steht im Flurschrank"),
        ("Was ich garantiert vergesse: Die Tasche steht oben.", "Die Tasche steht oben"),
        ("guárdame esto que luego ando como loco: la llave es la azul", "la llave es la azul"),
        ("No se te vaya a olvidar que el extintor quedó abajo", "el extintor quedó abajo"),
        ("Los mariscos me hacen daño, apúntalo por fa", "Los mariscos me hacen daño"),
        ("有个事你帮我存着：服务器的口令是白鹭加63，别弄丢了啊", "服务器的口令是白鹭加63"),
        ("备用钥匙在鞋柜最底下那格，这个你替我记牢", "备用钥匙在鞋柜最底下那格"),
        ("Don't let me forget that the MOT is due in June.", "the MOT is due in June"),
        ("Put this in your notes: Lena takes size 34.", "Lena takes size 34"),
        ("My blood group is B negative, in case I forget.", "My blood group is B negative"),
        ("My blood group is B negative, keep hold of that.", "My blood group is B negative"),
        ("Damit ich's nicht vergesse: der Torcode ist 9921.", "der Torcode ist 9921"),
        ("Der Torcode ist 9921, bitte gut aufheben.", "Der Torcode ist 9921"),
        ("Speicher das bitte ab, der Torcode ist 9921.", "der Torcode ist 9921"),
        ("El código es 9921, que no se te olvide.", "El código es 9921"),
        ("Para que no se me pase: el código es 9921.", "el código es 9921"),
        ("Te pido que recuerdes que soy alérgica a las nueces.", "soy alérgica a las nueces"),
        ("门禁密码是9921，记一下呗。", "门禁密码是9921"),
        ("麻烦你记着点，门禁密码是9921。", "门禁密码是9921"),
        ("Remember this, I'm allergic to nuts.", "I'm allergic to nuts"),
        (
            "The yard gate opens with 2714 these days, make a note of it, would you?",
            "The yard gate opens with 2714 these days",
        ),
        ("We gave blood this morning, so hold on to this for me: I'm B negative.", "I'm B negative"),
        ("Memorize my member number, it's 55-120.", "my member number, it's 55-120"),
        ("Memoriza la clave del portal, es 4471.", "la clave del portal, es 4471"),
        ("Please save the new Wi-Fi password: marigold-58.", "the new Wi-Fi password: marigold-58"),
        ("Notier bitte das neue WLAN-Passwort: Lerche-9.", "das neue WLAN-Passwort: Lerche-9"),
        ("怕我自己忘了，跟你说一声：门禁密码是9921。", "门禁密码是9921"),
    ],
)
def test_what_is_to_be_remembered_stands_beside_the_request(sentence: str, remembered: str) -> None:
    request = split_request(sentence)
    assert request.kind == "inside"
    assert sentence[request.start : request.end].strip(" .,，。") == remembered


@pytest.mark.parametrize(
    "sentence",
    [
        "Behältst du das?",
        "Make a note of it, would you?",
        "Quédate con eso.",
        "Can you hang on to that for me?",
        "Guarda eso, por fa",
        "请把这个记下来",
        "Make sure you don't lose this",
        "Keep that in mind in case I lock myself out.",
        "Don't lose that one, please, I never find the letter.",
        "Please save that, I always forget it.",
        "Merk dir das bitte, ich verlege den Zettel immer.",
        "Guárdalo, por favor, que siempre se me olvida.",
        "记一下，我老是忘。",
    ],
)
def test_a_request_alone_is_about_what_was_said_before(sentence: str) -> None:
    assert split_request(sentence).kind == "before"


@pytest.mark.parametrize(
    "sentence",
    [
        "I forgot that", "Do you remember that?", "I keep that in my bag", "Keep it simple", "Keep it up!",
        "We keep the records in the cellar", "Vergiss es", "Olvídalo", "Forget it", "我忘了这件事", "你还记得那件事吗",
        "你记得我妹妹吗",
        "She made a note of it.", "Se quedó con eso.", "I know it by heart.",
        "Remember that time we went to Rome?", "Can you remember that thing about my car?", "Das ist gespeichert.",
    ],
)  # fmt: skip
def test_what_is_told_or_asked_is_no_request(sentence: str) -> None:
    assert split_request(sentence).kind == "none"
    assert forget_requests(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "topic"),
    [
        ("do me a favour and wipe that about the loan, I don't want it kept anywhere", "the loan"),
        ("I'd rather you didn't keep that bit about the loan", "the loan"),
        ("Could you not hold on to what I said about Paul?", "Paul"),
        ("Eigentlich will ich nicht, dass das mit den Schulden irgendwo steht.", "den Schulden"),
        ("Das mit dem Kredit darfst du wieder vergessen", "dem Kredit"),
        ("Bórralo, eso del anexo no lo quiero guardado", "anexo"),
        ("Lo de la deuda mejor bórralo", "la deuda"),
        ("刚才抑郁那段你别留了，删掉吧", "抑郁"),
        ("把我工资的事忘掉", "我工资"),
        ("Actually, can you scrap what I said about my divorce?", "my divorce"),
        ("The bit about my brother's gambling shouldn't be stored.", "my brother's gambling"),
        ("Pretend I never told you about the loan.", "the loan"),
        ("Quita lo del préstamo de tu memoria.", "préstamo"),
    ],
)
def test_a_request_to_forget_names_what_it_is_about(sentence: str, topic: str) -> None:
    [request] = forget_requests(sentence)
    assert (request.kind, request.topic) == ("nearby", topic)


@pytest.mark.parametrize(
    "sentence", ["Streich das bitte wieder.", "Mejor no guardes eso", "Kannst du das von eben löschen?"]
)
def test_a_request_to_forget_without_a_name_is_about_what_was_said_before(sentence: str) -> None:
    [request] = forget_requests(sentence)
    assert request.kind == "previous"


@pytest.mark.parametrize(
    "sentence",
    [
        "Forget it, let's move on", "Forget that, let's talk about lunch", "Don't forget to call mum", "I deleted that",
        "Delete the second paragraph", "Did you forget that?", "Ich habe das vergessen", "quita eso de la lista",
        "I lost that", "Don't lose that", "Das steht nicht im Vertrag.", "Somebody left a whole kipper, no note",
    ],
)  # fmt: skip
def test_other_uses_of_the_words_forget_nothing(sentence: str) -> None:
    assert forget_requests(sentence) == []


@pytest.mark.parametrize(
    ("request_", "answer", "kept"),
    [
        ("Could you note down the new Wi-Fi password for me?", "It is lark-9.", "The new Wi-Fi password is lark-9."),
        ("Can you remember my locker number?", "It's 214.", "My locker number is 214."),
        ("Kannst du dir das WLAN-Passwort notieren?", "Es lautet Lerche-9.", "Das WLAN-Passwort ist Lerche-9."),
        ("¿Me apuntas la contraseña nueva?", "Es lince-77.", "La contraseña nueva es lince-77."),
    ],
)
def test_a_thing_that_is_asked_to_be_kept_is_said_in_the_next_sentence(request_: str, answer: str, kept: str) -> None:
    named = split_request(request_)
    assert named.kind == "named"
    assert with_named(answer, request_[named.start : named.end]) == kept
    assert with_named("We had a lovely evening.", "the code") is None
