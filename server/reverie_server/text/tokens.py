"""The number of tokens of a text: estimated by script, or counted with the model's own tokenizer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reverie_indexer.errors import SetupError
from reverie_indexer.text.analyse import CJK

CountTokens = Callable[[str], int]
# Tokens that the format of a chat adds to each message.
MESSAGE_OVERHEAD = 4
# With the punctuation and the wide forms of those scripts, which cost a token each as well.
_CJK = re.compile(f"[{CJK}\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff9f]")


def estimate_tokens(text: str) -> int:
    """CJK characters + ⌈ASCII characters / 4⌉ + ⌈2 × other characters / 3⌉; 0 for an empty text."""
    ascii_chars = len(text.encode("ascii", "ignore"))
    # Most texts are all ASCII: they need no second pass.
    cjk_chars = 0 if ascii_chars == len(text) else len(_CJK.findall(text))
    other_chars = len(text) - ascii_chars - cjk_chars
    return cjk_chars + -(-ascii_chars // 4) + -(-2 * other_chars // 3)


def message_tokens(content: str, extra: Mapping[str, Any], count: CountTokens) -> int:
    """The tokens of one message in a prompt: its content, its other fields (tool calls), and the overhead."""
    extra_tokens = count(json.dumps(extra, ensure_ascii=False, separators=(",", ":"), default=str)) if extra else 0
    return MESSAGE_OVERHEAD + count(content) + extra_tokens


def load_tokenizer(path: Path) -> CountTokens:
    """A counter by a `tokenizer.json`, without the special tokens of a sequence; SetupError for another file."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_buffer(path.read_bytes())
    except OSError as error:
        raise SetupError(f"the tokenizer file {path} cannot be read: {error.strerror}") from None
    except Exception as error:  # noqa: BLE001 - the library raises nothing narrower
        raise SetupError(f"{path} is no tokenizer.json: {error}") from None
    # A published file may cut and pad to the length its model was trained with.
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(text: str) -> int:
        # A lone surrogate, which a JSON escape can bring, is counted as its replacement character.
        readable = text.encode("utf-8", "replace").decode("utf-8")
        return len(tokenizer.encode(readable, add_special_tokens=False).ids)

    return count
