"""A Qwen2 chat model of half a megabyte with random weights: it speaks nonsense, deterministically.

It takes the real road through llama.cpp: loading, tokenizer, chat template, grammar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

WIDTH, LAYERS, HEADS, KV_HEADS, INNER, CONTEXT = 64, 2, 4, 2, 128, 2048
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT = """turn the words of a user into calls of the tools below answer with a JSON list of calls
{"tool": "search_flights", "arguments": {"destination": "Miami", "date": "October 7"}} transcript
Track the order GG5. Looking at flights to Boston, no wait, to Miami. {"value": 12.5} true false"""


def write_qwen2(
    path: Path, *, template: str | None = TEMPLATE, context: int = CONTEXT, seed: int = 7
) -> Path:
    """Write the model as a GGUF file; without a template it is no chat model."""
    gguf = pytest.importorskip("gguf", reason="needs gguf: pip install gguf")
    tokens, merges = _vocabulary()
    writer = gguf.GGUFWriter(str(path), "qwen2")
    writer.add_context_length(context)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10_000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in SPECIAL else 1 for token in tokens])
    writer.add_token_merges(merges)
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_add_bos_token(False)
    if template is not None:
        writer.add_chat_template(template)
    rng = np.random.default_rng(seed)

    def random(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        return (rng.standard_normal(shape) * 0.2).astype(np.float32)

    writer.add_tensor("token_embd.weight", random(len(tokens), WIDTH))
    writer.add_tensor("output.weight", random(len(tokens), WIDTH))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    kv = WIDTH * KV_HEADS // HEADS
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}{name}.weight", np.ones(WIDTH, np.float32))
        for name, rows in (("attn_q", WIDTH), ("attn_k", kv), ("attn_v", kv)):
            writer.add_tensor(f"{block}{name}.weight", random(rows, WIDTH))
            writer.add_tensor(f"{block}{name}.bias", random(rows))
        writer.add_tensor(f"{block}attn_output.weight", random(WIDTH, WIDTH))
        for name in ("ffn_gate", "ffn_up"):
            writer.add_tensor(f"{block}{name}.weight", random(INNER, WIDTH))
        writer.add_tensor(f"{block}ffn_down.weight", random(WIDTH, INNER))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _vocabulary() -> tuple[list[str], list[str]]:
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra 'speech'")
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(
        [TEXT], vocab_size=430, min_frequency=1, special_tokens=list(SPECIAL), show_progress=False
    )
    import json

    model = json.loads(trained.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    return tokens, merges
