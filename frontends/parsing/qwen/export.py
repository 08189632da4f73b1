"""Weights to a GGUF file, as llama.cpp reads Qwen2, with a chat template of its own.

The parser that reads it tells every model all about the tools; this one knows its tools, so its
template leaves of the message only the transcript.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

from frontends.parsing.gguf.prompt import TRANSCRIPT
from frontends.parsing.qwen.model import EPSILON, ROPE_BASE
from frontends.parsing.qwen.shipped import CONTEXT
from frontends.parsing.qwen.tokenizer import BEGIN, END, PAD, SPECIAL
from simcore.errors import MissingError
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from frontends.parsing.qwen.model import Shape, Weights
    from frontends.parsing.qwen.tokenizer import Tokenizer

Numbers = Literal["f32", "f16", "q8_0"]

TEMPLATE: Final = (
    BEGIN + " {{ (messages | last).content.split(" + repr(TRANSCRIPT) + ") | last }}" + END
)
"""What `Tokenizer.prompt` makes, with its end."""


def write_gguf(
    path: Path, weights: Weights, shape: Shape, tokenizer: Tokenizer, numbers: Numbers = "q8_0"
) -> None:
    """Write a model, whole or not at all; `numbers` is how matrices are kept.

    Raises `MissingError` where the package gguf is not installed.
    """
    gguf = need_gguf()
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="rassg-sim-") as scratch:
        made = Path(scratch, path.name)
        writer = gguf.GGUFWriter(str(made), "qwen2")
        _describe(writer, gguf, shape, tokenizer)
        kind = {
            "f32": gguf.GGMLQuantizationType.F32,
            "f16": gguf.GGMLQuantizationType.F16,
            "q8_0": gguf.GGMLQuantizationType.Q8_0,
        }[numbers]
        for name, tensor in weights.items():
            array = tensor.detach().float().numpy()
            if array.ndim == 2 and kind != gguf.GGMLQuantizationType.F32:
                packed = gguf.quants.quantize(array, kind)
                writer.add_tensor(name, packed, raw_dtype=kind)
            else:
                writer.add_tensor(name, array)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        write_atomic(path, made.read_bytes())


def _describe(writer: Any, gguf: Any, shape: Shape, tokenizer: Tokenizer) -> None:
    writer.add_name("ReCAST parser")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.inner)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_freq_base(ROPE_BASE)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    tokens = tokenizer.tokens
    kinds = gguf.TokenType
    types = [kinds.NORMAL] * len(tokenizer.plain)
    types += [kinds.CONTROL] * len(SPECIAL)
    types += [kinds.USER_DEFINED] * len(tokenizer.scaffolds)
    writer.add_token_list(list(tokens))
    writer.add_token_types(types)
    writer.add_token_merges(list(tokenizer.merges))
    writer.add_eos_token_id(tokenizer.numbers[END])
    writer.add_pad_token_id(tokenizer.numbers[PAD])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def need_gguf() -> Any:
    """The package gguf; raises `MissingError` where it is not installed."""
    try:
        import gguf
    except ModuleNotFoundError:
        raise MissingError(
            "writing a GGUF file needs the package gguf: pip install 'rassg-sim[train]'"
        ) from None
    return gguf
