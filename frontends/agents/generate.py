"""Scripts drawn at random; each source of randomness has its own stream.

So scripts of two recipes that differ in one rate differ only in what that rate decides.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from simcore.agent.script import words
from simcore.streams import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from frontends.agents.recipe import Recipe

_FILLERS: Final = ("um", "uh", "yeah", "like")
_PLAIN: Final = words("please could you then for me and with about it so that we also have this by")
_VALUES: Final = words(
    "amber birch cedar delta ember fjord grove haven iris jade kelp lotus maple north opal pearl "
    "quartz river stone tulip umber vale willow yarrow zephyr"
)
_THOUGHTS: Final = words("the user wants this so next i need to look up what is asked here")
_AGAIN_AT_MOST: Final = 16


@dataclass(slots=True)
class _Drawn:
    """One call as it is drawn: the word that it needs, and what becomes of it."""

    id: str
    tool: str
    inputs: tuple[str, ...]
    place: float
    guess_at: float | None
    corrected_at: float | None
    removed_at: float | None
    missed: bool
    heard: int = 0
    guessed: int | None = None
    corrected: int | None = None
    removed: int | None = None


def scripts(recipe: Recipe, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Rows of `script/v1`; the n-th is the same however many are drawn."""
    return (_script(recipe, seed, index) for index in range(count))


def _script(recipe: Recipe, seed: int, index: int) -> dict[str, Any]:
    def random(source: str) -> np.random.Generator:
        return stream(seed, recipe.workload, index, source)

    calls = _calls(recipe, random)
    speech = _speech(recipe, random, calls)
    tools = {}
    for name, effect, runtime in recipe.tools:
        seconds = recipe.runtime_scale * random(f"runtime-{name}").uniform(*runtime)
        tools[name] = {"runtime": f"{round(1000 * seconds)} ms", "effect": effect}
    answer = random("answer")
    thinking, length = _whole(answer, recipe.answer_think), _whole(answer, recipe.answer)
    steps = _with_repeats(recipe, random, _steps(recipe, random, calls), len(speech))
    return {
        "schema": "script/v1",
        "id": f"{recipe.workload}-{seed}-{index}",
        "workload": recipe.workload,
        "tokens_per_second": _whole(random("rate"), recipe.rate),
        "tools": tools,
        "speech": speech,
        "steps": [*steps, {"think": _thought(answer, thinking), "answer": length}],
    }


def _calls(recipe: Recipe, random: Any) -> list[_Drawn]:
    kinds, places = random("calls"), random("places")
    guesses, corrections = random("guesses"), random("corrections")
    removals, misses = random("removals"), random("missed")
    count = _whole(kinds, recipe.calls)
    where = sorted(places.uniform(recipe.earliest, 1.0, size=count))
    reads = [name for name, effect, _ in recipe.tools if effect == "read"]
    writes = [name for name, effect, _ in recipe.tools if effect == "write"]
    calls: list[_Drawn] = []
    for number, place in enumerate(where):
        # Looked up first, then written: of several tools the later half writes.
        written = bool(writes) and number >= (count + 1) // 2
        tool = str(kinds.choice(writes if written else reads))
        known = [call.id for call in calls if call.tool in reads]
        inputs = tuple(call.id for call in calls[-1:])
        if not recipe.chain:
            inputs = tuple(i for i in known if kinds.random() < 0.4)[:2]
        luck, at = guesses.random(), guesses.uniform(0, place)
        guess = at if luck < recipe.guess else None
        luck, later = corrections.random(), corrections.uniform(place, 1.0)
        corrected = later if luck < recipe.correction else None
        luck, gone = removals.random(), removals.uniform(max(place, later), 1.0)
        removed = gone if luck < recipe.removal else None
        missed = bool(misses.random() < recipe.missed)
        calls.append(_Drawn(f"c{number}", tool, inputs, place, guess, corrected, removed, missed))
    needed = {other for call in calls for other in call.inputs}
    for call in calls:
        if call.id in needed or len(calls) == 1:
            call.removed_at = None
    return calls


def _speech(recipe: Recipe, random: Any, calls: list[_Drawn]) -> list[dict[str, str]]:
    """The query's updates; notes of each call by when its words are heard."""
    wording, fillers = random("wording"), random("fillers")
    count = max(1, round(recipe.words_scale * _whole(wording, recipe.words)))
    said: list[tuple[float, str, list[str]]] = [
        ((n + 0.5) / count, "", [str(wording.choice(_PLAIN))]) for n in range(count)
    ]
    for call in calls:
        said.append((call.place, f"{call.id} heard", [value(call.id, "said")]))
        if call.guess_at is not None:
            said.append((call.guess_at, f"{call.id} guessed", []))
        if call.corrected_at is not None:
            said.append(
                (call.corrected_at, f"{call.id} corrected", ["no", "wait", value(call.id, "meant")])
            )
        if call.removed_at is not None:
            said.append((call.removed_at, f"{call.id} removed", ["never", "mind", "that"]))
    said.sort(key=lambda part: part[0])
    spoken: list[str] = []
    ends: list[tuple[str, int]] = []
    for _, note, part in said:
        if part and fillers.random() < recipe.filler:
            spoken.append(str(fillers.choice(_FILLERS)))
        spoken += part
        if note:
            ends.append((note, len(spoken)))
    pace = random("pace").uniform(*recipe.pace)
    times = list(accumulate([1 / pace] * len(spoken)))
    updates = ceil(times[-1] / recipe.prefix_s)
    prefixes = [min((n + 1) * recipe.prefix_s, times[-1]) for n in range(updates)]

    def heard(count: int) -> int:
        end = times[count - 1] if count else 0.0
        return next(n for n, prefix in enumerate(prefixes, start=1) if prefix >= end)

    by_id = {call.id: call for call in calls}
    for note, count in ends:
        ident, what = note.split()
        setattr(by_id[ident], what, heard(count))
    found, done = [], 0
    for prefix in prefixes:
        upto = sum(time <= prefix for time in times)
        at = round(1000 * (prefix + recipe.recognition_s))
        found.append({"at": f"{at} ms", "text": " ".join(spoken[done:upto])})
        done = upto
    return found


def _steps(recipe: Recipe, random: Any, calls: list[_Drawn]) -> list[dict[str, Any]]:
    """What the agent does, in the order in which it hears what it needs."""
    thoughts = random("thoughts")
    steps: list[tuple[int, dict[str, Any]]] = []
    first: dict[str, int] = {}
    changed: set[str] = set()

    def add(
        heard: int, call: _Drawn, said: str, think: tuple[int, int], slip: bool = False
    ) -> None:
        arguments: dict[str, str] = {"about": value(call.id, said)}
        step: dict[str, Any] = {
            "heard": heard,
            "think": _thought(thoughts, _whole(thoughts, think)),
        }
        step |= {"call": call.id, "tool": call.tool}
        if recipe.chain:
            arguments["of"] = "-".join(sorted(changed & {call.id, *call.inputs})) or "first"
            step["results"] = list(call.inputs)
        else:
            arguments |= {f"by{n}": f"${other}" for n, other in enumerate(call.inputs)}
        step["arguments"] = arguments
        if slip:
            step["slip"] = "missed"
        steps.append((heard, step))

    short = (recipe.think[0] // 2, recipe.think[1] // 2)
    for call in calls:
        earliest = max((first[other] for other in call.inputs), default=1)
        first[call.id] = call.heard
        if call.guessed is not None and max(earliest, call.guessed) < call.heard:
            first[call.id] = max(earliest, call.guessed)
            add(first[call.id], call, "guess", recipe.think)
            add(call.heard, call, "said", short)
        else:
            add(call.heard, call, "said", recipe.think)
    for place, call in enumerate(calls):
        if call.corrected is not None:
            changed.add(call.id)
            add(call.corrected, call, "meant", short, call.missed)
            # In a chain what was read of it has to be asked anew.
            for later in calls[place + 1 :] if recipe.chain else ():
                changed.add(later.id)
                word = "meant" if later.corrected is not None else "said"
                heard = max(call.corrected, later.corrected or later.heard)
                add(heard, later, word, short)
        if call.removed is not None:
            steps.append((call.removed, {"heard": call.removed, "remove": call.id}))
    return [step for _, step in sorted(steps, key=lambda pair: pair[0])]


def _with_repeats(
    recipe: Recipe, random: Any, steps: list[dict[str, Any]], updates: int
) -> list[dict[str, Any]]:
    """The failure that the paper saw: interrupted by an update, the agent calls again."""
    slips = random("repeats")
    stands: dict[str, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    rest = list(steps)
    for update in range(1, updates + 1):
        while rest and rest[0]["heard"] <= update:
            step = rest.pop(0)
            found.append(step)
            if "remove" in step:
                stands.pop(step["remove"])
            elif step.get("slip") != "missed":
                stands[step["call"]] = step
        luck, again, chosen = slips.random(), slips.random(_AGAIN_AT_MOST), slips.random()
        if luck >= recipe.repeat or not stands:
            continue
        step = list(stands.values())[int(chosen * len(stands))]
        times = 1 + next((n for n, more in enumerate(again) if more >= recipe.again), len(again))
        kept = {key: step[key] for key in ("call", "tool", "arguments")}
        found += [{"heard": update, **json.loads(json.dumps(kept)), "slip": "repeat"}] * times
    return found


def value(ident: str, said: str) -> str:
    """The word for what a call is about: as guessed, as said, or as meant in the end."""
    shift = {"guess": 0, "said": 8, "meant": 16}[said]
    return _VALUES[(int(ident[1:]) + shift) % len(_VALUES)]


def _thought(random: np.random.Generator, length: int) -> str:
    return " ".join(str(random.choice(_THOUGHTS)) for _ in range(length))


def _whole(random: np.random.Generator, bounds: tuple[int, int]) -> int:
    return int(random.integers(*bounds, endpoint=True))
