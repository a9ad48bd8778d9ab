"""A directory of all-MiniLM-L6-v2 as sentence-transformers loads it, made of the two files that we fetch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reverie_indexer.embed.built_in import MINILM

_BERT = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": 384,
    "intermediate_size": 1536,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "pad_token_id": 0,
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
_MODULES = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling"), ("2", "2_Normalize", "Normalize")]


def minilm_directory(directory: Path) -> Path:
    """Fill a directory with the model, its large files linked, and return it."""
    directory.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {
        "config.json": _BERT,
        "modules.json": [
            {"idx": index, "name": name, "path": path, "type": f"sentence_transformers.models.{kind}"}
            for index, (name, path, kind) in enumerate(_MODULES)
        ],
        "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
        "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512},
    }
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    for name in MINILM.files:
        (directory / name).symlink_to(MINILM.find_weights() / name)
    return directory
