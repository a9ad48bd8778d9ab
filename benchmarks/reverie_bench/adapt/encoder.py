"""A built-in model in torch, with thin matrices beside its dense layers, which alone are learnt (`embed.adapter`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pad_sequence

from reverie_indexer.embed.adapter import Adapter, LowRank
from reverie_indexer.embed.built_in import BuiltInModel
from reverie_indexer.embed.local import read_weights
from reverie_indexer.embed.packed_e5 import dequantised

_WORDS = "embeddings.word_embeddings.weight"


def _mask(lengths: Sequence[int]) -> Tensor:
    return (torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]).long()


def _bias(mask: Tensor) -> Tensor:
    """What is added to the scores of attention: so little where no token is that nothing comes of it."""
    return (1.0 - mask[:, None, None].float()) * torch.finfo(torch.float32).min


class AdaptableEncoder(nn.Module):
    """Embeds token ids as the model embeds a query: `[texts, hidden]`, of length 1. What is learnt of it are `matrices`
    (up and down, by the dense layers that can have an adapter), at a `scale`; as made they change nothing."""

    def __init__(self, model: BuiltInModel, rank: int) -> None:
        from transformers import BertConfig, BertModel

        super().__init__()
        weights, words = read_weights(model, model.find_weights())
        tensors = {name: torch.tensor(np.array(rows)) for name, rows in weights.items()}
        if words is not None:
            tensors[_WORDS] = torch.tensor(dequantised(words))
        shape = self._shape = model.shape
        config = BertConfig(
            vocab_size=len(tensors[_WORDS]),
            hidden_size=shape.hidden,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=len(tensors["encoder.layer.0.intermediate.dense.weight"]),
            max_position_embeddings=len(tensors["embeddings.position_embeddings.weight"]),
            type_vocab_size=len(tensors["embeddings.token_type_embeddings.weight"]),
            layer_norm_eps=shape.layer_norm_epsilon,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        self._bert = BertModel(config, add_pooling_layer=False).requires_grad_(False)
        self._bert.load_state_dict({name: tensors[name] for name in self._bert.state_dict()})
        mean = model.means().get("query")
        self._mean = torch.zeros(shape.hidden) if mean is None else torch.tensor(mean)
        self.scale = 1.0
        self.matrices: dict[str, tuple[nn.Parameter, nn.Parameter]] = {}
        for name, layer in self._bert.named_modules():
            if isinstance(layer, nn.Linear) and shape.is_adapted(name):
                up = nn.Parameter(torch.zeros(layer.out_features, rank))
                down = nn.Parameter(torch.randn(rank, layer.in_features) / layer.in_features**0.5)
                self.register_parameter(f"{name}.up".replace(".", "_"), up)
                self.register_parameter(f"{name}.down".replace(".", "_"), down)
                self.matrices[name] = (up, down)
                layer.register_forward_hook(partial(self._with_adapter, up, down))

    def _with_adapter(
        self, up: Tensor, down: Tensor, layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor
    ) -> Tensor:
        del layer
        return output + self.scale * (inputs[0] @ down.T @ up.T)

    def lower(self, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        """The states of the tokens of texts by their ids, `[tokens, hidden]` each, below what can be adapted."""
        ids = torch.zeros(len(texts), max(map(len, texts)), dtype=torch.long)
        for row, each in enumerate(texts):
            ids[row, : len(each)] = torch.tensor(each)
        bias = _bias(_mask([len(each) for each in texts]))
        with torch.no_grad():
            hidden = self._through(self._bert.embeddings(input_ids=ids), bias, upper=False)
        return [hidden[row, : len(each)] for row, each in enumerate(texts)]

    def upper(self, lower: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """The last hidden states of tokens by those that `lower` gave, `[texts, tokens, hidden]`, and 1 where there is
        a token, `[texts, tokens]`."""
        mask = _mask([len(each) for each in lower])
        hidden = pad_sequence([each.float() for each in lower], batch_first=True)
        return self._through(hidden, _bias(mask), upper=True), mask

    def _through(self, hidden: Tensor, bias: Tensor, *, upper: bool) -> Tensor:
        for number, layer in enumerate(self._bert.encoder.layer):
            if self._is_upper(number) == upper:
                found = layer(hidden, attention_mask=bias)
                hidden = found[0] if isinstance(found, tuple) else found
        return hidden

    def _is_upper(self, number: int) -> bool:
        return self._shape.is_adapted(f"encoder.layer.{number}")

    def states(self, texts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """The last hidden states of the tokens of texts by their ids, as `upper` has them."""
        return self.upper(self.lower(texts))

    def forward(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """The vectors of texts by their ids."""
        hidden, mask = self.states(texts)
        is_read = mask[..., None].to(hidden.dtype)
        pooled = normalize((hidden * is_read).sum(1) / is_read.sum(1), dim=-1)
        return normalize(pooled - self._mean, dim=-1)

    def adapter(self) -> Adapter:
        """What was learnt, at its scale."""
        return {
            name: LowRank((self.scale * up.detach()).numpy(), down.detach().numpy())
            for name, (up, down) in self.matrices.items()
        }
