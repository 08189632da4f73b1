"""`simcore recast`: the data set made anew, and what it is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from frontends.recast.report.command import report_command

app = typer.Typer(
    name="recast", help="Make the ReCAST data set, and report on it.", no_args_is_help=True
)

app.command("report")(report_command)

_Out = Annotated[Path, typer.Option(help="Where the packs and their decodes go.")]
_Work = Annotated[Path, typer.Option(help="Where audio and unfinished work go and stay.")]
_Asr = Annotated[str, typer.Option(help="A Whisper model's folder or name.")]
_Scale = Annotated[
    float,
    typer.Option(
        min=0, help="How long a decode takes where the recognizer will run, relative to here."
    ),
]
_OUT = Path("scenarios/packs/recast")
_WORK = Path("build/recast")


@app.command("build")
def build(
    out: _Out = _OUT,
    work: _Work = _WORK,
    asr: _Asr = "base",
    service_scale: _Scale = 1.0,
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
    out: _Out = _OUT, work: _Work = _WORK, asr: _Asr = "base", service_scale: _Scale = 1.0
) -> None:
    """Write packs of what is finished so far: no audio is made or decoded."""
    from frontends.parsing.lexicon import Lexicon
    from frontends.recast.build import ENCODER_FRAMES
    from frontends.recast.packs import write_packs
    from frontends.whisper import Whisper

    recognizer = Whisper(asr, encoder_frames=ENCODER_FRAMES)
    for line in write_packs(out, work, recognizer, Lexicon(), service_scale=service_scale):
        typer.echo(line)


@app.command("freeze")
def freeze_parser(out: _Out = _OUT) -> None:
    """Fix the parser by its digest, before the test is parsed for the first time."""
    from frontends.parsing.lexicon import Lexicon
    from frontends.recast.packs import freeze

    freeze(out, Lexicon())
