"""`simcore recast`: the data set made anew, and what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from frontends.recast.report.command import report_command
from simcore.errors import UsageError

app = typer.Typer(
    name="recast", help="Make the ReCAST data set, and report on it.", no_args_is_help=True
)

app.command("report")(report_command)

_Out = Annotated[Path, typer.Option(help="Where the packs and their decodes go.")]
_Work = Annotated[Path, typer.Option(help="Where audio and unfinished work go and stay.")]
_Asr = Annotated[str, typer.Option(help="A Whisper model's folder or name.")]
_Scale = Annotated[
    list[str] | None,
    typer.Option(
        "--service-scale",
        metavar="[PROCESSOR=]NUMBER",
        help="How long a decode takes where the recognizer will run, relative to the processor "
        "that made it, such as X86_V3=0.4; without a name: to those not named. [default: 1]",
    ),
]
_OUT = Path("scenarios/packs/recast")
_WORK = Path("build/recast")


@app.command("build")
def build(
    out: _Out = _OUT,
    work: _Work = _WORK,
    asr: _Asr = "base",
    service_scale: _Scale = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Stop after this time, with what is finished.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 2,
) -> None:
    """Speak and decode the groups of recordings that are missing, then write the packs.

    Safe to kill at any point: what is finished is kept, and the next call goes on.
    """
    import time

    from frontends.cache import DecodeCache
    from frontends.models import cache_folder
    from frontends.recast.build import ENCODER_FRAMES, make_groups
    from frontends.recast.recipe import NOISES, SPLITS
    from frontends.recast.record import SUFFIX, read_records
    from frontends.whisper import Whisper
    from simcore.progress import show_progress

    _scales(service_scale or [])
    until = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    packs = (*SPLITS, *NOISES)
    finished = [record for name in packs for record in read_records(out / f"{name}{SUFFIX}")]
    with show_progress() as progress:
        make_groups(
            work,
            Whisper(asr, encoder_frames=ENCODER_FRAMES),
            DecodeCache(cache_folder() / "decodes"),
            finished,
            jobs=jobs,
            progress=progress,
            stop=lambda: time.monotonic() > until,
        )
    pack(out, work, asr, service_scale)


@app.command("pack")
def pack(
    out: _Out = _OUT, work: _Work = _WORK, asr: _Asr = "base", service_scale: _Scale = None
) -> None:
    """Write packs of what is finished so far: no audio is made or decoded."""
    from frontends.parsing.lexicon import Lexicon
    from frontends.recast.build import ENCODER_FRAMES
    from frontends.recast.packs import write_packs
    from frontends.whisper import Whisper

    scales = _scales(service_scale or [])
    recognizer = Whisper(asr, encoder_frames=ENCODER_FRAMES)
    for line in write_packs(out, work, recognizer, Lexicon(), scales=scales):
        typer.echo(line)


@app.command("freeze")
def freeze_parser(out: _Out = _OUT) -> None:
    """Fix the parser by its digest, before the test is parsed for the first time."""
    from frontends.parsing.lexicon import Lexicon
    from frontends.recast.packs import freeze

    freeze(out, Lexicon())


def _scales(given: list[str]) -> dict[str, float]:
    scales = {}
    for text in given:
        processor, _, number = text.rpartition("=")
        try:
            scales[processor] = float(number)
        except ValueError:
            scales[processor] = -1
        if not 0 <= scales[processor] < float("inf"):
            raise UsageError(
                f"--service-scale takes a number, or a processor's name and a number such as "
                f"X86_V3=0.4, not '{text}'"
            )
    return scales
