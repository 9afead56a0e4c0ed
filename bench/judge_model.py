"""A small language model as a judge: how surprised it is at what follows a text.

Reads Llama and Qwen2 decoders from GGUF files, just enough of them to score text, in batches. Needs
torch, numpy, gguf and tokenizers; a GPU scores about a hundred sequences a second, two cores need
minutes for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

_QWEN_WORDS: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_MAX_BATCH: Final = 16
_MAX_BATCH_TOKENS: Final = 65_536
"""What one forward pass takes of memory: some 20 GB for a model of 1.5 billion parameters."""


class Vocabulary(NamedTuple):
    """How a model reads a chat."""

    tokenizer: Any
    start: int
    """The token that opens a message."""
    end: int
    window: int


class Scored(NamedTuple):
    """A sequence to be scored: its tokens, and how many of the last ones count."""

    ids: Sequence[int]
    last: int


def read_vocabulary(path: Path) -> Vocabulary:
    """Make the tokenizer of a model, as its file tells."""
    fields = GGUFReader(path).fields

    def strings(key: str) -> list[str]:
        return [bytes(fields[key].parts[i]).decode() for i in fields[key].data]

    ids = {token: number for number, token in enumerate(strings("tokenizer.ggml.tokens"))}
    merges = [tuple(merge.split(" ")) for merge in strings("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=merges))
    family = strings("general.architecture")[0]
    if family == "llama":
        words = pre_tokenizers.Digits(individual_digits=True)
        letters = pre_tokenizers.ByteLevel(add_prefix_space=False)
    else:
        words = pre_tokenizers.Split(Regex(_QWEN_WORDS), "isolated")
        letters = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, letters])
    length = fields[f"{family}.context_length"]
    window = int(length.parts[length.data[0]].tolist()[0])
    return Vocabulary(tokenizer, ids["<|im_start|>"], ids["<|im_end|>"], window)


class Decoder:
    """A decoder that is read from a GGUF file; runs on the GPU if there is one."""

    def __init__(self, path: Path) -> None:
        reader = GGUFReader(path)
        family = reader.fields["general.architecture"]
        self._family = bytes(family.parts[family.data[0]]).decode()
        is_fast = torch.cuda.is_available()
        self._device = "cuda" if is_fast else "cpu"
        self._type = torch.bfloat16 if is_fast else torch.float32

        def field(key: str) -> Any:
            found = reader.fields[f"{self._family}.{key}"]
            return found.parts[found.data[0]].tolist()[0]

        self._layers: int = field("block_count")
        self._heads: int = field("attention.head_count")
        self._shared_heads: int = field("attention.head_count_kv")
        self._theta: float = field("rope.freq_base")
        self._epsilon: float = field("attention.layer_norm_rms_epsilon")
        self._size: int = field("embedding_length") // self._heads
        self._weights: dict[str, Any] = {}
        for tensor in reader.tensors:
            shape = tuple(reversed(tensor.shape.tolist()))
            values = np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type))
            loaded = torch.tensor(values.reshape(shape), dtype=self._type)
            self._weights[tensor.name] = loaded.to(self._device)

    def score(self, sequences: Sequence[Scored]) -> list[Any]:
        """Return the log probability of each of the last tokens of every sequence."""
        order = sorted(range(len(sequences)), key=lambda n: -len(sequences[n].ids))
        scores: list[Any] = [None] * len(sequences)
        head = self._weights.get("output.weight", self._weights["token_embd.weight"])
        while order:
            width = len(sequences[order[0]].ids)
            count = max(1, min(_MAX_BATCH, _MAX_BATCH_TOKENS // width))
            batch, order = order[:count], order[count:]
            ids: Any = np.zeros((len(batch), width), dtype=np.int64)
            for row, number in enumerate(batch):
                ids[row, : len(sequences[number].ids)] = sequences[number].ids
            with torch.inference_mode():
                hidden = self._hidden(torch.as_tensor(ids, device=self._device))
                for row, number in enumerate(batch):
                    end, last = len(sequences[number].ids), sequences[number].last
                    logits = (hidden[row, end - last - 1 : end - 1] @ head.T).float()
                    wanted = torch.as_tensor(ids[row, end - last : end], device=self._device)
                    found = torch.log_softmax(logits, -1).gather(1, wanted[:, None])
                    scores[number] = found[:, 0].cpu().numpy()
        return scores

    def _hidden(self, ids: Any) -> Any:
        rows, width = ids.shape
        x = self._weights["token_embd.weight"][ids]
        places = torch.arange(width, device=self._device).float()
        steps = torch.arange(0, self._size, 2, device=self._device).float() / self._size
        angles = torch.outer(places, self._theta**-steps)
        turn = angles.cos().to(self._type), angles.sin().to(self._type)
        groups = self._heads // self._shared_heads
        for layer in range(self._layers):
            normed = self._norm(x, f"blk.{layer}.attn_norm.weight")
            query, key, value = (
                self._linear(normed, f"blk.{layer}.attn_{name}")
                .view(rows, width, -1, self._size)
                .transpose(1, 2)
                for name in "qkv"
            )
            query, key = self._rotate(query, turn), self._rotate(key, turn)
            seen = torch.nn.functional.scaled_dot_product_attention(
                query,
                key.repeat_interleave(groups, 1),
                value.repeat_interleave(groups, 1),
                is_causal=True,
            )
            seen = seen.transpose(1, 2).reshape(rows, width, -1)
            x = x + self._linear(seen, f"blk.{layer}.attn_output")
            normed = self._norm(x, f"blk.{layer}.ffn_norm.weight")
            gate = torch.nn.functional.silu(self._linear(normed, f"blk.{layer}.ffn_gate"))
            up = self._linear(normed, f"blk.{layer}.ffn_up")
            x = x + self._linear(gate * up, f"blk.{layer}.ffn_down")
        return self._norm(x, "output_norm.weight")

    def _linear(self, x: Any, name: str) -> Any:
        bias = self._weights.get(f"{name}.bias")
        product = x @ self._weights[f"{name}.weight"].T
        return product if bias is None else product + bias

    def _norm(self, x: Any, name: str) -> Any:
        exact = x.float()
        scale = torch.rsqrt(exact.pow(2).mean(-1, keepdim=True) + self._epsilon)
        return (exact * scale).to(x.dtype) * self._weights[name]

    def _rotate(self, x: Any, turn: tuple[Any, Any]) -> Any:
        """Turn each pair by its angle: a file of Llama has pairs side by side, Qwen's in halves."""
        cos, sin = turn
        if self._family == "llama":
            a, b = x[..., 0::2], x[..., 1::2]
            return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)
