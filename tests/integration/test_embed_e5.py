"""multilingual-e5-small: its file, its tokeniser and its vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reverie_indexer.embed import Embedding
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import LocalEmbedder, load_local, load_tokeniser
from reverie_indexer.embed.packed_e5 import PackedModel, read_packed
from reverie_indexer.embed.tokenisers import UnigramTokeniser
from reverie_indexer.errors import SetupError

# Ids that fairseq and Hugging Face publish in their tests for the vocabulary of XLM-RoBERTa, which e5 has.
PUBLISHED_IDS = {
    "Hello World!": [0, 35378, 6661, 38, 2],
    'This is a very long text with a lot of weird characters, such as: . , ~ ? ( ) " [ ] ! : - .': [
        *(
            0,
            3293,
            83,
            10,
            4552,
            4989,
            7986,
            678,
            10,
            5915,
            111,
            179459,
            124850,
            4,
            6044,
            237,
            12,
            6,
            5,
            6,
            4,
            6780,
            705,
        ),
        *(15, 1388, 44, 378, 10114, 711, 152, 20, 6, 5, 2),
    ],
    "such as saoneuhaoesuth": [0, 6044, 237, 6284, 50901, 528, 31, 90, 34, 927, 2],
}


@pytest.fixture(scope="module")
def raw() -> bytes:
    return (E5.find_weights() / E5.weights_file).read_bytes()


@pytest.fixture(scope="module")
def packed(raw: bytes) -> PackedModel:
    return read_packed(raw)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("e5")


@pytest.fixture(scope="module")
def e5(cache: Path) -> Iterator[LocalEmbedder]:
    embedder = load_local(cache, E5)
    yield embedder
    asyncio.run(embedder.aclose())


@pytest.fixture
def tokeniser(e5: LocalEmbedder, cache: Path) -> UnigramTokeniser:
    del e5
    [file] = cache.glob("*.model")
    return UnigramTokeniser(file, E5.shape.max_tokens)


def vector(embedding: Embedding) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    assert isinstance(embedding, np.ndarray)
    return embedding


def test_the_ids_are_the_published_ones(tokeniser: UnigramTokeniser) -> None:
    for text, ids in PUBLISHED_IDS.items():
        assert ids == list(tokeniser.ids(text))


def test_forms_of_a_text_that_look_the_same_have_the_same_ids(tokeniser: UnigramTokeniser) -> None:
    assert tokeniser.ids("Caf\u0065\u0301 \uff46ull  spaces ") == tokeniser.ids("Caf\u00e9 full spaces")
    assert tokeniser.ids("a\u200db") == tokeniser.ids("a b"), "the published table makes a space of the joiner"


def test_a_text_without_a_token_and_one_beyond_the_window_have_their_marks(tokeniser: UnigramTokeniser) -> None:
    assert list(tokeniser.ids(" ")) == [0, 2]
    ids = list(tokeniser.ids("word " * 3000))
    assert (E5.shape.max_tokens, 0, 2) == (len(ids), ids[0], ids[-1])


def test_every_script_is_familiar_that_the_vocabulary_has(e5: LocalEmbedder) -> None:
    for text in (
        "When is the review?",
        "李明住在哪里?",
        "เอด้าอาศัยอยู่ที่ไหน",
        "Где живёт Ада?",
        "우리 개 이름은?",
        "أين تعيش آدا",
    ):
        assert e5.familiarity(text) == 1.0
    assert e5.familiarity("\U00012000\U00012001\U00012002\U00012003") == 0.0, "cuneiform"


def test_a_weight_is_what_its_block_says(raw: bytes, packed: PackedModel) -> None:
    """The first row of the word table, unpacked by hand: d · (q − 8), the lower halves of 16 bytes before the upper."""
    scale = float(packed.words.scales[0, 0])
    block = packed.words.packed[0, :16]
    expected = [scale * ((int(byte) & 15) - 8) for byte in block] + [scale * ((int(byte) >> 4) - 8) for byte in block]
    position = raw.find(packed.words.scales[0, :1].tobytes() + block.tobytes())
    assert position > 0
    assert len(set(expected)) > 1
    assert max(abs(value) for value in expected) <= 8 * abs(scale)
    assert packed.words.packed.shape == (250_037, 192)


@pytest.mark.parametrize("damage", ["another kind", "cut in the header", "cut in the vocabulary", "cut in the weights"])
def test_a_file_of_another_layout_is_a_setup_error(damage: str, raw: bytes) -> None:
    damaged = {
        "another kind": b"GGUF" + raw[4:64],
        "cut in the header": raw[:20],
        "cut in the vocabulary": raw[:100_000],
        "cut in the weights": raw[:60_000_000],
    }[damage]
    with pytest.raises(SetupError, match="another layout"):
        read_packed(damaged)


async def test_a_question_is_nearest_to_its_answer_in_any_language(e5: LocalEmbedder) -> None:
    passages = [
        "The dentist appointment of my daughter is on the fifth of May.",
        "We decided against the hedge because of the moth.",
        "Die Heizung wird nächste Woche repariert.",
        "Ella es alérgica a los cacahuetes.",
        "我们的猫叫豆包，今年三岁。",
    ]
    questions = [
        "¿Cuándo va la niña al dentista?",
        "Why no hedge?",
        "Wann wird die Heizung gemacht?",
        "¿A qué tiene alergia?",
        "What is the cat called?",
    ]
    found = np.stack([vector(v) for v in await e5.embed(passages, "passage")])
    asked = np.stack([vector(v) for v in await e5.embed(questions, "query")])
    assert (asked @ found.T).argmax(axis=1).tolist() == [0, 1, 2, 3, 4]


async def test_what_has_nothing_to_do_with_each_other_has_no_likeness(e5: LocalEmbedder, cache: Path) -> None:
    """Without the mean every two texts have a cosine of 0.7 and more."""
    question, passage = "When is the school trip?", "The compiler inlines small functions."
    [query], [other] = await e5.embed([question], "query"), await e5.embed([passage], "passage")
    raw = load_local(cache, replace(E5, has_means=False))
    [raw_query], [raw_other] = await raw.embed([question], "query"), await raw.embed([passage], "passage")
    assert float(vector(raw_query) @ vector(raw_other)) > 0.65
    assert abs(float(vector(query) @ vector(other))) < 0.25
    await raw.aclose()


async def test_a_text_has_another_vector_in_another_role(e5: LocalEmbedder) -> None:
    text = "We decided against the hedge because of the moth."
    [query], [passage] = await e5.embed([text], "query"), await e5.embed([text], "passage")
    assert 0.5 < float(vector(query) @ vector(passage)) < 0.9999


@pytest.mark.parametrize("lead", ["", "\u200d", "\u200b", " \u200d ", "\u3000\u200d", "\ufeff", "\ufffd "])
def test_the_places_of_tokens_are_those_of_their_text(tmp_path_factory: pytest.TempPathFactory, lead: str) -> None:
    """What the normalisation drops at the beginning moves nothing."""
    tokeniser = load_tokeniser(E5, E5.find_weights(), tmp_path_factory.mktemp("vocabulary"))
    text = f"{lead}I live in Köln."
    pieces = tokeniser.pieces(text)
    assert len(pieces) == len(tokeniser.ids(text)) - 2
    assert "Köln" in [text[start:end].strip() for start, end in pieces]
