"""A folder of audio to a pack of traces: decode every prefix once, then lay the arrivals out.

Decodes go through a cache, so a build can be killed at any point and goes on where it was, and
recordings that begin with the same samples share text and service time there.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from frontends.audio import LONGEST, RATE, read_audio
from frontends.cache import DecodeCache, decode_key
from frontends.metadata import read_metadata
from frontends.pauses import trailing_silence
from frontends.protocol import confidence
from frontends.work import run_all
from simcore.clock import format_duration
from simcore.errors import InputError, InputErrors
from simcore.files.trace_rows import recording_from_dict
from simcore.queueing import arrival_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from frontends.metadata import Source
    from frontends.protocol import Parser, Recognizer
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
    sources = read_metadata(folder)
    described = recognizer.describe()
    limit = longest if recognizer.longest_us is None else min(longest, recognizer.longest_us)
    heard: list[Heard] = []
    faults: list[InputError] = []
    for index, source in enumerate(sources, start=1):
        try:
            samples = read_audio(source.audio, longest=longest)
            length = len(samples) * 1_000_000 // RATE
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


def assemble(
    heard: Heard,
    parser: Parser,
    cache: DecodeCache,
    *,
    queueing: Queueing = "fifo",
    service_scale: float = 1.0,
) -> Recording:
    """The trace of a recording whose prefixes are all in the cache.

    `service_scale` says how long a decode takes where the recognizer will run, relative to here.
    """
    decodes = [cache.get(key) for key in heard.keys]
    ends = [end * 1_000_000 // RATE for end in heard.ends]
    services = [round(decode.service_us * service_scale) for decode in decodes]
    times = arrival_times(ends, services, queueing)
    arrivals = []
    for index, (end, time, decode) in enumerate(zip(ends, times, decodes, strict=True)):
        if time is None:
            continue
        parsed = parser.parse([word.text for word in decode.words], heard.source.domain)
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


def provenance(
    heard: Sequence[Heard],
    recognizer: Recognizer,
    parser: Parser,
    cache: DecodeCache,
    *,
    step: Microseconds = STEP,
    queueing: Queueing = "fifo",
    service_scale: float = 1.0,
    audio: Any = None,
) -> dict[str, Any]:
    """What a pack was made from, and with what; `audio` is what its synthesis left.

    Measured service is a decode's processor time on one thread.
    """
    keys = {key for recording in heard for key in recording.keys}
    decodes = [cache.get(key) for key in sorted(keys)]
    services = sorted(decode.service_us for decode in decodes)
    return {
        "recordings": len(heard),
        "groups": len({h.source.columns.get("group_id", h.source.recording_id) for h in heard}),
        "audio": audio,
        "audio_sha256": {recording.source.recording_id: recording.digest for recording in heard},
        "recognizer": dict(recognizer.describe()),
        "parser": dict(parser.describe()),
        "prefix_step_us": step,
        "queueing": queueing,
        "decodes": len(decodes),
        "service_scale": service_scale,
        "processor": _processor(),
        "measured_service_us": {
            "median": services[len(services) // 2],
            "p95": services[len(services) * 95 // 100],
            "total": sum(services),
        },
        "measured_wall_us": {"total": sum(decode.wall_us for decode in decodes)},
        "packages": {"rassg-sim": version("rassg-sim")},
    }


def _processor() -> str:
    """What the service times were measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
