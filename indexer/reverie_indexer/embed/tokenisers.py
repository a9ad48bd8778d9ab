"""Texts to the ids of a model's tokens, and how well a model's vocabulary knows a text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol

VOCABULARY_VERSION = 2
"""Part of the cached file's name: raise it with every change of `unigram_model`."""
_UNKNOWN_PIECE = "[UNK]"
_MIN_LETTERS = 3
# The ids of XLM-RoBERTa's vocabulary.
_START, _END, _UNKNOWN = 0, 2, 3
# The published normalisation makes a space of this joiner; that of the library leaves it.
_JOINER = "\u200d"


class Tokeniser(Protocol):
    """The tokeniser of one model. Safe for concurrent calls."""

    def ids(self, text: str) -> Sequence[int]:
        """The ids of a text, with the model's marks at both ends, cut to what the model reads."""
        ...

    def pieces(self, text: str) -> Sequence[tuple[int, int]]:
        """Where the tokens of a text stand in it, in characters, without the marks at its ends."""
        ...

    def familiarity(self, text: str) -> float:
        """See `Embedder.familiarity`."""
        ...


class WordPieceTokeniser:
    """BERT's tokeniser, from a `tokenizer.json`."""

    def __init__(self, tokenizer_json: bytes, max_tokens: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_buffer(tokenizer_json)
        self._tokenizer.no_padding()  # the published file pads to 128
        self._tokenizer.enable_truncation(max_tokens)

    def ids(self, text: str) -> Sequence[int]:
        """See `Tokeniser.ids`."""
        # One by one: encode_batch would spread over all cores, whatever number of threads was asked for.
        ids: Sequence[int] = self._tokenizer.encode(text).ids
        return ids

    def pieces(self, text: str) -> Sequence[tuple[int, int]]:
        """See `Tokeniser.pieces`."""
        offsets: Sequence[tuple[int, int]] = self._tokenizer.encode(text).offsets
        return offsets[1:-1]

    def familiarity(self, text: str) -> float:
        """The share of letters in known pieces of several letters."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        letters = familiar = 0
        for piece, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True):
            count = sum(letter.isalnum() for letter in text[start:end])
            letters += count
            familiar += count if count > 1 and piece != _UNKNOWN_PIECE else 0
        return familiar / letters if letters >= _MIN_LETTERS else 1.0


class UnigramTokeniser:
    """XLM-RoBERTa's tokeniser, on sentencepiece: 60 MB of memory where the `tokenizers` package takes 300."""

    def __init__(self, model_file: Path, max_tokens: int) -> None:
        from sentencepiece import SentencePieceProcessor

        self._processor: Any = SentencePieceProcessor(model_file=str(model_file))
        self._max_content = max_tokens - 2

    def ids(self, text: str) -> Sequence[int]:
        """See `Tokeniser.ids`."""
        content: list[int] = self._processor.encode(text.replace(_JOINER, " "))
        return [_START, *content[: self._max_content], _END]

    def pieces(self, text: str) -> Sequence[tuple[int, int]]:
        """See `Tokeniser.pieces`."""
        read = text.replace(_JOINER, " ")
        pieces = self._processor.encode(read, return_type="proto").pieces[: self._max_content]
        # What the normalisation drops at the beginning is of no piece; places are in bytes there.
        start = len(read.encode()[: pieces[0].begin].decode()) if pieces else 0
        places = list(accumulate((len(piece.surface) for piece in pieces), initial=start))
        return list(pairwise(places))

    def familiarity(self, text: str) -> float:
        """The share of letters in known pieces; pieces of one letter are normal in Chinese and Japanese."""
        pieces = self._processor.encode(text.replace(_JOINER, " "), return_type="proto").pieces
        letters = familiar = 0
        for piece in pieces:
            count = sum(letter.isalnum() for letter in piece.surface)
            letters += count
            familiar += count if piece.id != _UNKNOWN else 0
        return familiar / letters if letters >= _MIN_LETTERS else 1.0


def unigram_model(pieces: Sequence[str], scores: Sequence[float]) -> bytes:
    """XLM-RoBERTa's tokeniser as a model of sentencepiece: its pieces, the i'th with the id i, and NFKC before.

    The library's own table for `nmt_nfkc` is the published one, but for the zero-width joiner.
    """
    from sentencepiece import SentencePieceNormalizer, sentencepiece_model_pb2

    messages: Any = sentencepiece_model_pb2
    rules = messages.ModelProto()
    rules.ParseFromString(SentencePieceNormalizer(rule_name="nmt_nfkc").serialized_model_proto())
    model = messages.ModelProto()
    kinds = model.SentencePiece
    for index, (piece, score) in enumerate(zip(pieces, scores, strict=True)):
        entry = model.pieces.add(piece=piece, score=score)
        if index == _UNKNOWN:
            entry.type = kinds.UNKNOWN
        elif piece in ("<s>", "<pad>", "</s>", "<mask>"):
            entry.type = kinds.CONTROL
    trainer = model.trainer_spec
    trainer.model_type = trainer.UNIGRAM
    trainer.vocab_size = len(pieces)
    trainer.bos_id, trainer.pad_id, trainer.eos_id, trainer.unk_id = _START, 1, _END, _UNKNOWN
    normaliser = model.normalizer_spec
    normaliser.CopyFrom(rules.normalizer_spec)
    normaliser.add_dummy_prefix = normaliser.remove_extra_whitespaces = normaliser.escape_whitespaces = True
    serialised: bytes = model.SerializeToString(deterministic=True)
    return serialised
