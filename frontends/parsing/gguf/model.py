"""A GGUF model on llama.cpp, one thread, greedy, with the beginning of its prompt kept evaluated.

Only the beginning that all prompts share (instructions and tools) is reused. llama.cpp would also
keep what two prompts happen to share beyond it, but then an answer's time, and in rare cases the
answer, would depend on what was asked before.
"""

from __future__ import annotations

import atexit
import time
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from simcore.clock import Microseconds

LONGEST_ANSWER: Final = 384
"""Tokens."""

_MAGIC: Final = b"GGUF"
_LONGEST_GRAMMAR: Final = 400_000


class Model:
    """Raises `MissingError` for a file that is missing, no GGUF, not loadable or no chat model."""

    def __init__(self, file: Path, context: int) -> None:
        package = _package()
        check_file(file)
        try:
            self._llama: Any = package.Llama(
                str(file),
                n_ctx=context,
                n_threads=1,
                n_threads_batch=1,
                seed=1,
                verbose=False,
            )
        except (ValueError, RuntimeError) as error:
            raise MissingError(
                f"{file}: the model cannot be loaded, it is cut short or of a kind that this "
                f"llama-cpp-python does not know ({error})"
            ) from None
        # At the interpreter's end the library is gone before the model that a cache holds.
        atexit.register(self._llama.close)
        template = self._llama.metadata.get("tokenizer.chat_template")
        if not template:
            raise MissingError(
                f"{file}: the model has no chat template; take an instruct model's file"
            )
        self._file = file
        self._package = package
        kind = self._llama.metadata.get("general.architecture")
        trained = int(self._llama.metadata.get(f"{kind}.context_length", context))
        self._context = min(context, trained)
        self._render = package.llama_chat_format.Jinja2ChatFormatter(
            template,
            eos_token=self._token_text(self._llama.token_eos()),
            bos_token=self._token_text(self._llama.token_bos()),
        )
        self._held: list[int] = []

    def prompt(self, message: str) -> list[int]:
        """The tokens of a conversation of one user message, by the model's own template."""
        try:
            made = self._render(messages=[{"role": "user", "content": message}])
        except Exception as error:
            raise MissingError(f"{self._file}: the model's chat template fails: {error}") from None
        tokens: list[int] = self._llama.tokenize(
            made.prompt.encode(), add_bos=not made.added_special, special=True
        )
        return tokens

    def check_room(self, tokens: int) -> None:
        """Raise `MissingError` unless a prompt of so many tokens leaves room for an answer."""
        if tokens + LONGEST_ANSWER > self._context:
            raise MissingError(
                f"tools and transcript take {tokens:,} tokens and an answer up to "
                f"{LONGEST_ANSWER}, more than the context of {self._context:,}; give fewer tools "
                "or a larger --context"
            )

    def hold(self, prompts: Sequence[Sequence[int]]) -> None:
        """Evaluate what these prompts begin with, once and for all."""
        self._held = _common(*prompts)
        self._llama.reset()
        self._llama.eval(self._held)

    def grammar(self, schema: str) -> Any:
        """The grammar of a JSON schema; raises `MissingError` where llama.cpp cannot take it."""
        try:
            text = self._package.llama_grammar.json_schema_to_gbnf(schema)
        except (AssertionError, KeyError, ValueError, RecursionError) as error:
            raise MissingError(f"the tools' schema cannot be made a grammar: {error}") from None
        if len(text) > _LONGEST_GRAMMAR:
            raise MissingError(
                f"the tools' schema is too large: its grammar has {len(text):,} characters, at "
                f"most {_LONGEST_GRAMMAR:,} are held to; give fewer tools"
            )
        native = self._package.llama_cpp
        sampler = native.llama_sampler_init_grammar(
            native.llama_model_get_vocab(self._llama.model), text.encode(), b"root"
        )
        if not sampler:
            raise MissingError("the tools' schema is too large or odd for llama.cpp's grammars")
        native.llama_sampler_free(sampler)
        return self._package.LlamaGrammar.from_string(text, verbose=False)

    def answer(self, prompt: Sequence[int], grammar: Any) -> tuple[str, Microseconds]:
        """What the model says within the grammar, and the processor time that it took to."""
        self.check_room(len(prompt))
        started = time.process_time_ns()
        self._llama.n_tokens = min(self._llama.n_tokens, len(self._held))
        made = self._llama.create_completion(
            list(prompt), max_tokens=LONGEST_ANSWER, temperature=0.0, grammar=grammar
        )
        return made["choices"][0]["text"], (time.process_time_ns() - started) // 1_000

    def _token_text(self, token: int) -> str:
        if token == -1:
            return ""
        text: bytes = self._llama.detokenize([token], special=True)
        return text.decode(errors="replace")


def check_file(file: Path) -> None:
    """Raises `MissingError` unless the file is there and begins as a GGUF file does."""
    if not file.is_file():
        raise MissingError(f"there is no model file '{file}'")
    with file.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise MissingError(f"{file}: is no GGUF file")


def _common(first: Sequence[int], *others: Sequence[int]) -> list[int]:
    """What all begin with."""
    columns = zip(first, *others, strict=False)
    return [tokens[0] for tokens in takewhile(lambda tokens: len(set(tokens)) == 1, columns)]


def _package() -> Any:
    try:
        import llama_cpp
    except ImportError:
        raise MissingError(
            "a GGUF parser needs the package llama-cpp-python; "
            "install it with: pip install 'rassg-sim[gguf]'"
        ) from None
    return llama_cpp
