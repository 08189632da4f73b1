"""Recordings to a pack of traces: decode every prefix once, parse it, lay the arrivals out.

Decodes go through a cache, so a build can be killed at any point and goes on where it was, and
recordings that begin with the same samples share text and service time there. A parser that is
slow goes through a cache of its own.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from frontends.audio import LONGEST, RATE, read_audio
from frontends.cache import DecodeCache, decode_key
from frontends.metadata import read_metadata
from frontends.parsing.remembered import Remembered
from frontends.pauses import trailing_silence
from frontends.protocol import Parsed, confidence
from frontends.work import run_all
from simcore.clock import format_duration
from simcore.errors import InputError, InputErrors
from simcore.files.trace_rows import recording_from_dict
from simcore.queueing import arrival_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from frontends.cache import Decodes
    from frontends.metadata import Source
    from frontends.protocol import Decode, Parser, Recognizer
    from simcore.clock import Microseconds
    from simcore.progress import Progress
    from simcore.queueing import Queueing
    from simcore.trace import Recording

    Pauses = Callable[[NDArray[np.float32], Sequence[int]], list[Microseconds]]

STEP: Final[Microseconds] = 960_000
"""Time between two prefixes."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A recording ready to decode: where its prefixes end (in samples), and the keys of each."""

    source: Source
    ends: tuple[int, ...]
    keys: tuple[str, ...]
    pauses: tuple[Microseconds, ...]
    digest: str


def prefix_ends(samples: int, step: Microseconds = STEP) -> list[int]:
    """Where prefixes end, in samples: every step, and at the end of the audio.

    >>> prefix_ends(40_000)
    [15360, 30720, 40000]
    """
    stride = step * RATE // 1_000_000
    return [*range(stride, samples, stride), samples]


def listen(
    folder: Path,
    recognizer: Recognizer,
    *,
    step: Microseconds = STEP,
    longest: Microseconds = LONGEST,
    pauses: Pauses = trailing_silence,
    progress: Progress = lambda label, done, total: None,
) -> list[Heard]:
    """Read a folder's metadata and audio; raises `InputErrors` with every fault of both."""
    return hear(
        read_metadata(folder),
        recognizer,
        step=step,
        longest=longest,
        pauses=pauses,
        progress=progress,
    )


def hear(
    sources: Sequence[Source],
    recognizer: Recognizer,
    *,
    step: Microseconds = STEP,
    longest: Microseconds = LONGEST,
    skip_longer: Microseconds | None = None,
    pauses: Pauses = trailing_silence,
    progress: Progress = lambda label, done, total: None,
) -> list[Heard]:
    """Read the audio of recordings; raises `InputErrors` with every fault.

    A recording longer than `longest` is a fault, one longer than `skip_longer` is left out.
    """
    described = recognizer.describe()
    limit = longest if recognizer.longest_us is None else min(longest, recognizer.longest_us)
    heard: list[Heard] = []
    faults: list[InputError] = []
    for index, source in enumerate(sources, start=1):
        try:
            samples = read_audio(source.audio, longest=longest)
            length = len(samples) * 1_000_000 // RATE
            if skip_longer is not None and length > skip_longer:
                continue
            if length > limit:
                raise InputError(
                    f"the audio is longer than the {format_duration(limit)} that this "
                    "recognizer is set to take; --encoder-frames cuts it",
                    file=str(source.audio),
                )
        except InputError as fault:
            faults.append(fault)
            continue
        ends = prefix_ends(len(samples), step)
        keys = tuple(decode_key(samples[:end], described) for end in ends)
        digest = sha256(samples.tobytes()).hexdigest()
        heard.append(Heard(source, tuple(ends), keys, tuple(pauses(samples, ends)), digest))
        progress("reading", index, len(sources))
    if faults:
        raise InputErrors(faults)
    return heard


def from_speech_end(heard: Heard) -> Heard:
    """The recording with its delay counted from the end of speech, not of the waveform."""
    end = heard.ends[-1] * 1_000_000 // RATE - heard.pauses[-1]
    columns = heard.source.columns | {"origin_us": end}
    return replace(heard, source=replace(heard.source, columns=columns))


@dataclass(frozen=True, slots=True)
class _Task:
    audio: Path
    prefixes: tuple[tuple[int, str], ...]
    recognizer: Recognizer
    cache: DecodeCache
    longest: Microseconds


def decode_all(
    heard: Iterable[Heard],
    recognizer: Recognizer,
    cache: DecodeCache,
    *,
    jobs: int,
    longest: Microseconds = LONGEST,
    progress: Progress = lambda label, done, total: None,
) -> None:
    """Decode every prefix that the cache lacks, each distinct one once."""
    claimed: set[str] = set()
    tasks = []
    present = 0
    for recording in heard:
        missing = []
        for end, key in zip(recording.ends, recording.keys, strict=True):
            if key in claimed:
                continue
            claimed.add(key)
            if key in cache:
                present += 1
            else:
                missing.append((end, key))
        if missing:
            audio = recording.source.audio
            tasks.append(_Task(audio, tuple(missing), recognizer, cache, longest))
    run_all(
        _decode,
        tasks,
        jobs=jobs,
        label="decoding",
        progress=progress,
        done=present,
        size=lambda task: len(task.prefixes),
    )


def _decode(task: _Task) -> None:
    samples = read_audio(task.audio, longest=task.longest)
    for end, key in task.prefixes:
        task.cache.put(key, task.recognizer.decode(samples[:end]))


@dataclass(frozen=True, slots=True)
class _ParseTask:
    texts: tuple[tuple[tuple[str, ...], str | None], ...]
    parser: Remembered


def parse_all(
    heard: Iterable[Heard],
    parser: Remembered,
    cache: DecodeCache,
    *,
    jobs: int,
    progress: Progress = lambda label, done, total: None,
) -> None:
    """Parse every text of decoded recordings that the parser's cache lacks, each once."""
    claimed: set[tuple[tuple[str, ...], str | None]] = set()
    tasks = []
    present = 0
    for recording in heard:
        missing = []
        domain = recording.source.domain
        for key in recording.keys:
            words = tuple(word.text for word in cache.get(key).words)
            if not words or (words, domain) in claimed:
                continue
            claimed.add((words, domain))
            if parser.knows(words, domain):
                present += 1
            else:
                missing.append((words, domain))
        if missing:
            tasks.append(_ParseTask(tuple(missing), parser))
    run_all(
        _parse,
        tasks,
        jobs=jobs,
        label="parsing",
        progress=progress,
        done=present,
        size=lambda task: len(task.texts),
    )


def _parse(task: _ParseTask) -> None:
    for words, domain in task.texts:
        task.parser.parse(words, domain)


def assemble(
    heard: Heard,
    parser: Parser,
    cache: Decodes,
    *,
    queueing: Queueing = "fifo",
    service_scale: float = 1.0,
) -> Recording:
    """The trace of a recording whose prefixes are all in the cache.

    A prefix is parsed where its words are not those of the last one, and takes its decode and its
    parse. `service_scale` says how long both take where they will run, relative to here.
    """
    decodes = [cache.get(key) for key in heard.keys]
    parses = _parses(decodes, parser, heard.source.domain)
    ends = [end * 1_000_000 // RATE for end in heard.ends]
    services, times = _lay_out(ends, decodes, parses, queueing, service_scale)
    arrivals = []
    for index, (end, time, decode, parsed) in enumerate(
        zip(ends, times, decodes, parses, strict=True)
    ):
        if time is None:
            continue
        arrivals.append(
            {
                "prefix_end_us": end,
                "arrived_at_us": time,
                "text": decode.text,
                "confidence": confidence(decode, parsed),
                "argument": parsed.argument,
                "is_final": index == len(ends) - 1,
                "service_us": services[index],
                "pause_us": heard.pauses[index],
            }
        )
    return recording_from_dict(
        {**heard.source.columns, "audio_end_us": ends[-1], "arrivals": arrivals}
    )


def _parses(decodes: Sequence[Decode], parser: Parser, domain: str | None) -> list[Parsed]:
    parses: list[Parsed] = []
    said: list[str] = []
    for decode in decodes:
        words = [word.text for word in decode.words]
        if parses and words == said:
            parses.append(parses[-1])
        else:
            parses.append(parser.parse(words, domain))
        said = words
    return parses


def _lay_out(
    ends: Sequence[Microseconds],
    decodes: Sequence[Decode],
    parses: Sequence[Parsed],
    queueing: Queueing,
    scale: float,
) -> tuple[list[Microseconds], list[Microseconds | None]]:
    """Service and arrival of every prefix.

    What is skipped decides which of the next texts are new, and so what they take: from the first
    prefix on, each round settles one more.
    """
    times: list[Microseconds | None] = [0] * len(ends)
    while True:
        services = []
        said = None
        for decode, parsed, time in zip(decodes, parses, times, strict=True):
            new = decode.text != said
            services.append(round((decode.service_us + new * parsed.service_us) * scale))
            if time is not None:
                said = decode.text
        settled = arrival_times(ends, services, queueing)
        if settled == times:
            return services, times
        times = settled


def provenance(
    heard: Sequence[Heard],
    recognizer: Recognizer,
    parser: Parser,
    cache: DecodeCache,
    *,
    step: Microseconds = STEP,
    queueing: Queueing = "fifo",
    service_scale: float = 1.0,
) -> dict[str, Any]:
    """What a pack was made from, and with what.

    Measured service is a decode's processor time on one thread; that of parses is given where it
    is measured, each text of a recording once.
    """
    keys = {key for recording in heard for key in recording.keys}
    decodes = [cache.get(key) for key in sorted(keys)]
    parses = []
    if isinstance(parser, Remembered):
        parses = [p.service_us for h in heard for p in _distinct(h, parser, cache) if p.service_us]
    return {
        "recordings": len(heard),
        "groups": len({h.source.columns.get("group_id", h.source.recording_id) for h in heard}),
        "audio_sha256": {recording.source.recording_id: recording.digest for recording in heard},
        "recognizer": dict(recognizer.describe()),
        "parser": dict(parser.describe()),
        "prefix_step_us": step,
        "queueing": queueing,
        "decodes": len(decodes),
        "service_scale": service_scale,
        "processor": _processor(),
        "measured_service_us": _measured([decode.service_us for decode in decodes]),
        "measured_wall_us": {"total": sum(decode.wall_us for decode in decodes)},
        "packages": {"rassg-sim": version("rassg-sim")},
    } | ({"measured_parse_us": _measured(parses)} if parses else {})


def _distinct(heard: Heard, parser: Parser, cache: DecodeCache) -> list[Parsed]:
    parses = _parses([cache.get(key) for key in heard.keys], parser, heard.source.domain)
    return [p for index, p in enumerate(parses) if index == 0 or p is not parses[index - 1]]


def _measured(services: Sequence[Microseconds]) -> dict[str, int]:
    ordered = sorted(services)
    return {
        "count": len(ordered),
        "median": ordered[len(ordered) // 2],
        "p95": ordered[len(ordered) * 95 // 100],
        "total": sum(ordered),
    }


def _processor() -> str:
    """What the service times were measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
