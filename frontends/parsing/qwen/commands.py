"""`simcore train-parser` and `simcore parser`: a model of one's own, and what it is worth."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from frontends.parsing.qwen.shipped import CONTEXT, NAME, TOOLS

if TYPE_CHECKING:
    from frontends.parsing.remembered import Remembered
    from frontends.recast.record import Record
    from frontends.tools.catalog import Tools

app = typer.Typer(
    name="parser", help="What a language model makes of ReCAST's requests.", no_args_is_help=True
)
# A command of its own, though plug-ins come as groups of them.
train_app = typer.Typer(
    name="train-parser",
    invoke_without_command=True,
    subcommand_metavar="",
    context_settings={"allow_interspersed_args": True},
)

_Model = Annotated[
    Path, typer.Option(help="A GGUF file, or a model by name: qwen is the one that is shipped.")
]
_Records = Annotated[
    list[str], typer.Argument(help="Decodes by the name of their pack (recast/test), or files.")
]
_TRAIN = "recast/train"
_SELECTION = "recast/dev-selection"


@train_app.callback()
def train_parser(
    work: Annotated[Path, typer.Option(help="Where the training is kept, and goes on.")] = Path(
        "build/parser"
    ),
    out: Annotated[
        Path | None,
        typer.Option(help="The GGUF file, its record beside it. [default: in the work folder]"),
    ] = None,
    train: Annotated[
        str, typer.Option(help="Decodes to learn from, besides random texts.")
    ] = _TRAIN,
    selection: Annotated[str, typer.Option(help="Decodes to watch progress on.")] = _SELECTION,
    seed: Annotated[int, typer.Option(min=0, help="Other weights to begin with, other texts.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="How often the weights change.")] = 2_500,
    tokens: Annotated[int, typer.Option(min=1_000, help="Tokens of a step.")] = 16_384,
    held_out: Annotated[
        int,
        typer.Option(
            min=0,
            help="Learn nothing of every so many-th phrase of the source, "
            "and watch progress on the recordings that have one; 0: learn of all.",
        ),
    ] = 0,
    numbers: Annotated[
        Literal["f32", "f16", "q8_0"], typer.Option(help="How the file keeps weights.")
    ] = "q8_0",
    bfloat16: Annotated[
        bool, typer.Option(help="Short numbers in products: fast where the processor has them.")
    ] = True,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the one process.")] = 2,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after this time; the next call goes on.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Train a Qwen2 model of 3 million parameters to parse ReCAST's requests, and write it as GGUF.

    It learns from random requests in the source's words and in others, written as a recognizer
    would, and from the decodes of the training split. Safe to kill: the next call with the same
    options goes on, and ends with the weights that an unbroken training ends with.
    """
    from frontends.parsing.qwen.tokenizer import need_tokenizers

    _need_torch()
    need_tokenizers()
    from frontends.parsing.qwen.export import need_gguf, write_gguf
    from frontends.parsing.qwen.heldout import divided
    from frontends.parsing.qwen.record import write_record
    from frontends.parsing.qwen.recorded import recorded_texts
    from frontends.parsing.qwen.train import Settings
    from frontends.parsing.qwen.train import train as fit
    from frontends.tools.catalog import read_tools
    from simcore.errors import UsageError
    from simcore.progress import show_progress

    need_gguf()
    path = out or work / "model.gguf"
    if path.suffix != ".gguf":
        raise UsageError(f"--out: the model is a .gguf file, not '{path.name}'")
    if held_out == 1:
        raise UsageError("--held-out 1 leaves nothing to learn from; give 0, or 2 or more")
    until = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    settings = Settings(seed=seed, steps=steps, tokens=tokens, held_out=held_out, bfloat16=bfloat16)
    parts = {name: _file(name) for name in (train, selection)}
    learned, watched = (_records(parts[name]) for name in (train, selection))
    if held_out:
        learned, watched = divided([*learned, *watched], held_out)
    with show_progress(quiet=quiet) as progress:
        made = fit(
            work,
            recorded_texts(learned, learnable=True),
            recorded_texts(watched, learnable=False),
            read_tools(TOOLS),
            settings,
            threads=threads,
            stop=lambda: time.monotonic() > until,
            progress=progress,
            say=typer.echo,
        )
    if made is None:
        typer.echo(f"{work}: stopped; the same command goes on from the last state kept")
        return
    write_gguf(path, made.weights, made.shape, made.tokenizer, numbers)
    write_record(path, made, settings, parts, numbers)
    typer.echo(
        f"{path}: {made.parameters:,} parameters, {path.stat().st_size:,} bytes, "
        f"trained for {made.seconds / 60:.0f} minutes"
    )


@app.command("accuracy")
def print_accuracy(
    records: _Records,
    model: _Model = Path(NAME),
    out: Annotated[Path | None, typer.Option(help="The Markdown file to write.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Exact plans of a model beside the lexicon's, by subset, editing phrase and voice.

    Of final and of other prefixes, as they were decoded; and what a parse takes.
    """
    from frontends.parsing.lexicon import Lexicon
    from frontends.parsing.qwen.accuracy import Subject, accuracy, markdown
    from simcore.files.atomic import write_atomic
    from simcore.progress import show_progress

    found = [record for name in records for record in _records(_file(name))]
    parser, tools = _parser(model)
    subjects = (Subject("lexicon", Lexicon()), Subject(NAME, parser, tools))
    with show_progress(quiet=quiet) as progress:
        text = markdown(accuracy(found, subjects, progress))
    typer.echo(text, nl=False)
    if out is not None:
        write_atomic(out, text.encode())


@app.command("pack")
def write_packs(
    records: _Records,
    out: Annotated[Path, typer.Option(help="The folder for the packs.")],
    model: _Model = Path(NAME),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Write packs as a model reads them: the same speech, decodes and annotations.

    Decoding times are scaled as they were in the packs beside the decodes, and so are those of the
    parses.
    """
    from frontends.parsing.qwen.variant import write_variant
    from simcore.progress import show_progress

    parser, tools = _parser(model)
    for name in records:
        path = _file(name)
        made, scales = _made(path)
        target = out / f"{path.name.partition('.')[0]}.parquet"
        with show_progress(quiet=quiet) as progress:
            found = _records(path)
            for line in write_variant(
                target, found, parser, tools, made, scales=scales, progress=progress
            ):
                typer.echo(line)


_CACHES: Final = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY")


def _need_torch() -> None:
    import os

    from simcore.errors import MissingError

    # Torch keeps kernels by the shapes they are for, and hardly two batches have one shape: left
    # alone, that takes gigabytes. It reads these when it is loaded.
    for cache in _CACHES:
        os.environ.setdefault(cache, "1")
    for package in ("torch", "safetensors"):
        try:
            __import__(package)
        except ModuleNotFoundError:
            raise MissingError(
                f"training a parser needs {package}: pip install 'rassg-sim[train]'"
            ) from None


def _file(name: str) -> Path:
    """The decodes of a pack, or a file of decodes; raises `InputError` where there are none."""
    from frontends.recast.record import SUFFIX
    from simcore.errors import InputError, nearest
    from simcore.files.traces import pack_names, resolve_traces

    beside = {
        pack: path
        for pack in pack_names()
        if (path := resolve_traces(pack, ".").with_suffix(SUFFIX)).is_file()
    }
    path = beside.get(name, Path(name))
    if not path.is_file():
        raise InputError(f"there are no decodes '{name}'{nearest(name, beside)}")
    return path


def _records(path: Path) -> list[Record]:
    from frontends.recast.record import read_records

    return read_records(path)


def _made(path: Path) -> tuple[dict[str, object], dict[str, float]]:
    """What made the pack beside the decodes, and the scales of its decoding times."""
    import json

    from frontends.recast.record import SUFFIX

    beside = path.with_name(path.name.removesuffix(SUFFIX) + ".provenance.json")
    if not beside.is_file():
        return {}, {"": 1.0}
    made = json.loads(beside.read_text(encoding="utf-8"))
    made.pop("forecasts", None)  # they were made on other parses
    processors = made.get("processors", {})
    return made, {"": 1.0} | {name: each["service_scale"] for name, each in processors.items()}


def _parser(model: Path) -> tuple[Remembered, Tools]:
    from frontends.cache import ParseCache
    from frontends.models import cache_folder
    from frontends.parsing.gguf.parser import Gguf
    from frontends.parsing.remembered import Remembered
    from frontends.tools.catalog import read_tools

    parser = Gguf(model, TOOLS, context=CONTEXT)
    parser.check()
    return Remembered(parser, ParseCache(cache_folder() / "parses")), read_tools(TOOLS)
