"""Which statement a request to forget means, and whether an answer confirms it, by what is heard and no vectors."""

from __future__ import annotations

import numpy as np
import pytest

from reverie_indexer.embed.built_in import BUILT_IN
from reverie_server.heuristics.requests import request_kinds
from reverie_server.heuristics.requests.confidences import leans
from reverie_server.heuristics.requests.forget_requests import ForgetRequest
from reverie_server.heuristics.trees import Trees
from reverie_server.search.asked.features import FEATURES, Vectors, features
from reverie_server.search.asked.heard import MAX_HEARD, WAITS, Heard, HeardMessage, heard_of
from reverie_server.search.asked.matching import Matching
from reverie_server.search.asked.targets import among, log_odds, models, nearest_first


@pytest.mark.parametrize(
    ("earlier", "message", "number", "language", "meant"),
    [
        (
            ["The boiler needs replacing. I have eleven thousand on three credit cards. My brother can fit it."],
            ["Good.", "That about the cards, could you not hang on to it?"],
            1,
            "english",
            "I have eleven thousand on three credit cards.",
        ),
        (
            ["Am Samstag grillen wir. Mein Bruder hat Spielschulden, das weiß keiner.", "Zwölf Leute kommen."],
            ["Die Sache mit meinem Bruder wirfst du bitte weg."],
            0,
            "german",
            "Mein Bruder hat Spielschulden, das weiß keiner.",
        ),
        (
            ["El sábado viene mi hermana. La clave de la alarma es 4471. Necesito una receta."],
            ["Esos números que te puse, tíralos."],
            0,
            "spanish",
            "La clave de la alarma es 4471.",
        ),
    ],
)
def test_what_a_request_names_is_likelier_than_what_stands_beside_it(
    earlier: list[str], message: list[str], number: int, language: str, meant: str
) -> None:
    before = [HeardMessage([f"{part}." for part in text.rstrip(".").split(". ")]) for text in reversed(earlier)]
    heard = heard_of(HeardMessage(message), number, before)
    request = ForgetRequest("told", message[number], "", tuple(message[:number]), tuple(message[number + 1 :]))
    odds = log_odds(request, heard, language, None)
    told = {each.text: odds[at] for at, each in enumerate(heard) if each.where == "earlier"}
    assert max(told, key=told.__getitem__) == meant


def test_what_was_heard_is_in_order_each_text_once_and_bounded() -> None:
    message = HeardMessage(["Good.", "Forget that.", "Thanks."])
    heard = heard_of(message, 1, [HeardMessage(["I like tea.", "I like tea."], is_reply=True)], ["Old.", "Good."])
    assert [(each.text, each.where) for each in heard] == [
        ("Good.", "before"),
        ("Forget that.", "own"),
        ("Thanks.", "after"),
        (WAITS, "next"),
        ("I like tea.", "earlier"),
        ("Old.", "memory"),
    ]
    assert heard[4].back == 1
    assert heard[4].is_reply
    many = heard_of(message, 1, [HeardMessage([f"Tea {n}." for n in range(400)])], [f"Old {n}." for n in range(400)])
    assert len(many) <= MAX_HEARD
    assert sum(each.where == "memory" for each in many) == 16


def test_what_follows_is_heard_in_the_place_of_what_is_not_said_yet() -> None:
    heard = heard_of(HeardMessage(["Forget what comes."]), 0, [], (), HeardMessage(["I failed.", "Twice."]))
    assert [(each.text, each.where, each.number) for each in heard[1:]] == [
        ("I failed.", "next", 0),
        ("Twice.", "next", 1),
    ]


def test_a_statement_is_weighed_with_the_best_of_the_others() -> None:
    numbers = among(np.array([1.0, -2.0, 3.0], np.float32))
    assert numbers[:, :4].tolist() == [[1, 3, -2, 1], [-2, 3, 1, 2], [3, 1, -2, 0]]
    assert numbers[:, 4] == pytest.approx([1.803, 1.803, 1.803], abs=0.001)
    assert among(np.array([1.0], np.float32))[0, 1] == request_kinds.LEAST_ODDS


def test_how_well_statements_answer_to_a_request_is_learnt_beside_how_near_they_are() -> None:
    """By hand: 2 x nearness to the request + 3 x that to its words + the kind + the product of both in one space."""
    likeness = Matching(
        request=np.array([[1.0], [0.0]], np.float32),
        statement=np.array([[0.0], [5.0]], np.float32),
        kind=np.array([0.5, 0.0], np.float32),
        weights=(2.0, 3.0),
    )
    request, named = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    statements = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    assert likeness.scores(request, named, statements).tolist() == [2.5, 8.0]


def test_of_a_memory_that_comes_first_which_answers_to_the_request() -> None:
    of_model = models()["forget"]["multilingual-e5-small"]
    assert of_model.matching is not None
    rows = np.eye(2, len(of_model.usual), dtype=np.float32)
    nothing = np.zeros_like(of_model.usual)
    vectors = Vectors("multilingual-e5-small", nothing, nothing, nothing, {"one": rows[0], "two": rows[1]})
    kind = of_model.matching.kind
    assert nearest_first(["two", "one", "unknown"], vectors) == (
        ["one", "two"] if kind[0] > kind[1] else ["two", "one"]
    )
    assert nearest_first([], vectors) == []


def test_a_request_is_no_statement_that_others_are_held_beside() -> None:
    """The likeness of a request to itself says nothing of what it means."""
    likeness = Matching(*(np.zeros((2, 1), np.float32) for _ in range(2)), np.zeros(2, np.float32), (1.0, 0.0))
    request = ForgetRequest("told", "The thing about the loan, out with it.", "", (), ())
    said = [Heard(request.sentence, "own"), Heard("I owe Jan 200.", "earlier", 1), Heard("I like tea.", "memory")]
    near = np.array([[1, 0], [0.5, 0], [0.1, 0]], np.float32)
    own, nothing = near[0], np.zeros(2, np.float32)
    vectors = Vectors("any", own, own, own, dict(zip((each.text for each in said), near, strict=True)))
    rows = features(request, said, "english", vectors, nothing, likeness, lambda *_: 0.0)
    found = {name: rows[:, FEATURES.index(name)].tolist() for name in ("match", "match_rank", "match_ahead")}
    assert found["match"] == pytest.approx([1.0, 0.5, 0.1])
    assert found["match_rank"] == [0, 0, 1]
    assert found["match_ahead"] == pytest.approx([0.5, 0.4, -0.4])


def test_trees_add_up_what_their_leaves_say() -> None:
    one = np.array([[0, 0, 0]], np.int16)
    trees = Trees(
        feature=one,
        threshold=np.array([[0.5, 0, 0]], np.float32),
        below=np.array([[1, 1, 2]], np.int16),
        above=np.array([[2, 1, 2]], np.int16),
        value=np.array([[0, -1, 2]], np.float32),
        depth=3,
        offset=0.25,
    )
    assert trees.log_odds(np.array([[0.5], [0.6]], np.float32)).tolist() == [-0.75, 2.25]


def test_there_are_trees_for_both_built_in_models_and_for_none() -> None:
    assert set(models()) == {"forget", "remember"}
    assert all(set(each) == {*BUILT_IN, ""} for each in models().values())
    for model in (model for each in models().values() for model in each.values()):
        assert model.single.feature.max() < len(FEATURES)
        assert model.among.feature.max() < 5
        assert np.isfinite(model.single.value).all()


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("Thrown out.", "confirms"),
        ("Done, it's not kept.", "confirms"),
        ("Ist gestrichen.", "confirms"),
        ("Entendido, no lo guardo.", "confirms"),
        ("Borrado.", "confirms"),
        ("好，当作没说过。", "confirms"),
        ("Guardado. Crecerá hacia los zapatos.", "keeps"),
        ("I'll hold on to it.", "keeps"),
        ("Ist gemerkt.", "keeps"),
        ("I will keep that in mind.", "keeps"),
    ],
)
def test_an_answer_confirms_that_something_is_forgotten_or_that_it_is_kept_by_its_words(
    answer: str, says: request_kinds.Kind
) -> None:
    odds = {kind: request_kinds.odds(kind, request_kinds.opening(answer), None, "") for kind in request_kinds.OF_ANSWER}
    assert max(odds, key=odds.__getitem__) == says


def test_a_confirming_answer_makes_a_request_likelier_and_another_less_so() -> None:
    sentence = "The thing about the loan, out with it."
    for name in (*BUILT_IN, "", "another-model"):
        odds = {"forget": 1.0, "remember": -2.0}
        alone = request_kinds.asks("forget", sentence, odds, [], name)
        likely, unlikely = (
            request_kinds.asks("forget", sentence, odds, ends, name) for ends in ([-2.0, 3.0], [-2.0, -4.0])
        )
        assert likely > alone > unlikely
        # What asks to remember asks the less to forget, and so does what is answered as if it did.
        assert request_kinds.asks("forget", sentence, {**odds, "remember": 2.0}, [-2.0, 3.0], name) < likely
        assert request_kinds.asks("forget", sentence, odds, [3.0, 3.0], name) < likely
        kept, lost = (
            request_kinds.asks("remember", sentence, {"remember": 1.0, "forget": -2.0}, ends, name)
            for ends in ([3.0, -2.0], [-4.0, -2.0])
        )
        assert kept > lost
    assert all(set(each) == {*BUILT_IN, ""} for each in request_kinds.source()["asks"].values())


def test_what_must_not_be_lost_is_to_be_remembered_though_its_words_are_those_of_forgetting() -> None:
    for name in (*BUILT_IN, "", "another-model"):
        odds = {"forget": 3.0, "remember": 0.0}
        sentence, contrary = "See that it doesn't slip.", "See that it slips."
        # By words alone an answer only speaks against it.
        for ends in ([], [0.0, 1.0 if name in BUILT_IN else 0.0]):
            assert request_kinds.asks("forget", sentence, odds, ends, name) < 0
            assert request_kinds.asks("forget", contrary, odds, ends, name) > 0
            assert request_kinds.asks("remember", sentence, odds, ends, name) > 0


def test_of_an_answer_the_first_sentence_counts() -> None:
    assert request_kinds.opening("Weg damit. Der Zug fährt um neun.") == "Weg damit."
    assert len(request_kinds.opening("a" * 10_000)) == 120
    assert request_kinds.opening("") == ""


def test_a_word_of_a_request_is_found_at_the_end_of_a_compound() -> None:
    said = [Heard("Der Haupthahn ist hinter dem Schuhschrank.", "earlier"), Heard("Der Klempner war nett.", "earlier")]
    request = ForgetRequest("told", "Das mit dem Hahn hebst du bitte für mich auf.", "Hahn", (), ())
    shared = features(request, said, "german", None, np.zeros(0, np.float32), None)[:, FEATURES.index("share_topic")]
    assert shared.tolist() == [1.0, 0.0]


def test_of_a_message_of_very_many_sentences_those_about_the_request_are_heard() -> None:
    said = [f"Sentence {number}." for number in range(5000)]
    heard = heard_of(HeardMessage(said), 3000, [HeardMessage(said)], following=HeardMessage(said))
    assert len(heard) == MAX_HEARD
    assert {"Sentence 2999.", "Sentence 3000.", "Sentence 3001."} <= {each.text for each in heard}
    assert [each.previous for each in heard if each.where == "own"] == ["Sentence 2999."]


@pytest.mark.parametrize(
    ("before", "is_reply"),
    [
        (["He bowls every weekend."], True),
        (["I was thrown off a ferry for sleeping through a magic show.", "Rabbit and everything."], False),
    ],
)
def test_only_a_message_of_few_words_replies_to_the_question_before_it(before: list[str], *, is_reply: bool) -> None:
    request = "Actually no, scrub that last bit."
    assert leans(before, request, "How often does he bowl?") is is_reply
    assert not leans(before, request, "He bowls a lot.")
