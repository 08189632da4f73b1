"""`simcore run` and `simcore compare`."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simcore.errors import UsageError
from simcore.progress import show_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor

    from simcore.report.sections import Section
    from simcore.report.summary import Summary
    from simcore.scenario import Scenario
    from simcore.sweep import Panels

ScenarioOption = Annotated[
    str, typer.Argument(help="A scenario file, or the name of a shipped one.")
]
PolicyOption = Annotated[
    str | None,
    typer.Option(help="Labels, registered names or file.py:Class, separated by commas."),
]
TracesOption = Annotated[
    str | None, typer.Option(help="Other recordings: a file or a pack's name.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key, such as control.period=1s."),
]
SeedOption = Annotated[int | None, typer.Option(min=0, help="Override the scenario's seed.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Processes; the result is the same for any.")]
OutOption = Annotated[Path | None, typer.Option(help="The run's folder.")]
FormatOption = Annotated[str, typer.Option("--format", help="Of json,md,html,junit,perfetto.")]
EventsOption = Annotated[bool, typer.Option("--events", help="Write every event too.")]
QuietOption = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no table.")]
VerboseOption = Annotated[
    bool, typer.Option("-v", "--verbose", help="Say what is read and written.")
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("run")(run_command)
    app.command("compare")(compare_command)


def run_command(
    scenario: ScenarioOption,
    policy: PolicyOption = None,
    traces: TracesOption = None,
    set_: SetOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = 1,
    out: OutOption = None,
    formats: FormatOption = "json,md",
    events: EventsOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Run a scenario.

    Its folder is runs/NAME/TIME unless --out names one.
    """
    policies = None if policy is None else names_in(policy, "--policy")
    request = request_of(scenario, policies, traces, set_ or (), seed)
    execute(request, out, names_in(formats, "--format"), jobs, events, quiet, verbose)


def compare_command(
    scenario: ScenarioOption,
    policies: Annotated[
        str, typer.Option(help="The baseline, then the others, separated by commas.")
    ],
    traces: TracesOption = None,
    set_: SetOption = None,
    seed: SeedOption = None,
    jobs: JobsOption = 1,
    out: OutOption = None,
    formats: FormatOption = "json,md",
    events: EventsOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compare policies with the first.

    On the same recordings and random numbers.
    """
    names = names_in(policies, "--policies")
    if len(names) < 2:
        raise UsageError("--policies needs at least two policies to compare")
    request = request_of(scenario, names, traces, set_ or (), seed)
    execute(request, out, names_in(formats, "--format"), jobs, events, quiet, verbose)


def names_in(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"{option} '{text}' has an empty name in it")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{option} names '{name}' twice")
    return names


def request_of(
    scenario: str,
    policies: Sequence[str] | None,
    traces: str | None,
    overrides: Sequence[str],
    seed: int | None,
) -> dict[str, Any]:
    """What was asked for; kept in the summary, so that the run can be repeated from its folder."""
    return {
        "scenario": _absolute(scenario),
        "policies": policies if policies is None else [_absolute(name) for name in policies],
        "traces": traces if traces is None else _absolute(traces),
        "overrides": list(overrides),
        "seed": seed,
    }


def _absolute(name: str) -> str:
    """A file (or `file.py:Class`) by its full path; a registered or shipped name as it is."""
    path, colon, attribute = name.rpartition(":")
    if colon and Path(path).is_file():
        return f"{Path(path).resolve()}:{attribute}"
    return str(Path(name).resolve()) if Path(name).is_file() else name


def load_request(request: dict[str, Any]) -> Scenario:
    """The scenario of a request, as `load_scenario` reads it."""
    from simcore.files.scenarios import load_scenario

    return load_scenario(
        request["scenario"],
        overrides=request["overrides"],
        traces=request["traces"],
        policies=request["policies"],
        seed=request["seed"],
    )


def execute(
    request: dict[str, Any],
    out: Path | None,
    formats: list[str],
    jobs: int,
    events: bool,
    quiet: bool,
    verbose: bool,
    *,
    prepare: Callable[[Scenario], Scenario] = lambda scenario: scenario,
    study: Callable[[Panels, Scenario], Sequence[Section]] = lambda panels, scenario: (),
) -> None:
    """Run what was asked for, write its folder and print its tables.

    `prepare` may change the scenario that was loaded; `study` makes sections of its trajectories.
    """
    from simcore import sweep
    from simcore.report.run_folder import check_target, write_run
    from simcore.report.summary import build_summary

    scenario = prepare(load_request(request))
    folder = out or _default_folder(scenario)
    check_target(folder, formats)
    if not quiet and not scenario.checkpoints:
        _say_what_reads_forecasts(scenario)
    if verbose:
        _say(f"{len(scenario.recordings)} recordings, {len(scenario.policies)} policies")
    digest = sweep.run_digest(scenario)
    name = f".{out.resolve().name}.unfinished" if out else f".unfinished-{digest[:12]}"
    with sweep.unfinished(folder.resolve().parent / name, digest) as parts:
        with _executor(jobs) as executor, show_progress(quiet=quiet) as show:
            trajectories = sweep.write_trajectories(
                scenario, parts, executor=executor, progress=partial(show, "trajectories")
            )
            log = None
            if events:
                log = sweep.write_events(
                    scenario, parts, executor=executor, progress=partial(show, "events")
                )
        panels = sweep.Panels(trajectories)
        summary = build_summary(panels, scenario, as_given=request)
        sections = study(panels, scenario)
        trace = None
        if "perfetto" in formats:
            from simcore.timeline.sample import sample

            trace = sample(scenario)
        written = write_run(
            folder,
            trajectories,
            summary,
            formats=formats,
            perfetto=trace,
            events=log,
            sections=sections,
        )
    if sections:
        _print_sections(sections, quiet=quiet)
    else:
        _print(summary, quiet=quiet)
    for path in written if verbose else [folder]:
        _say(f"written: {path}")
    if not summary.passed:
        raise typer.Exit(1)


def _say_what_reads_forecasts(scenario: Scenario) -> None:
    """Without forecasts such a policy still runs, and does less than its name promises."""
    from simcore.registry import policy_factory

    for spec in scenario.policies:
        if ":" not in spec.name and policy_factory(spec.name, spec.options).reads_forecast:
            _say(f"note: '{spec.label}' reads forecasts, but the scenario names no checkpoint")


def _print(summary: Summary, *, quiet: bool) -> None:
    from rich.console import Console

    from simcore.report.tables import messages, print_summary

    if not quiet:
        print_summary(Console(), summary)
        return
    for bad, text in messages(summary):
        if bad:
            _say(text)


def _print_sections(sections: Sequence[Section], *, quiet: bool) -> None:
    if quiet:
        return
    for section in sections:
        parts = [section.heading, *section.text, *map(str, section.grids)]
        print("\n".join(filter(None, parts)), end="\n\n")


def _default_folder(scenario: Scenario) -> Path:
    from datetime import datetime

    return Path("runs") / scenario.name / datetime.now().strftime("%Y%m%d-%H%M%S-%f")[:-3]


def _say(text: str) -> None:
    print(text, file=sys.stderr)


@contextmanager
def _executor(jobs: int) -> Iterator[Executor | None]:
    if jobs == 1:
        yield None
        return
    from simcore.workers import worker_pool

    with worker_pool(jobs) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
