"""What must hold between the steps of a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.agent.graph import Graph, in_order
from simcore.agent.program import standing
from simcore.agent.script import from_row
from simcore.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simcore.agent.script import Script, Step

    Fault = tuple[tuple[int | str, ...], str]


def faults(row: Mapping[str, Any]) -> list[Fault]:
    """Every fault of a row of `script/v1` whose values are sound on their own, with its place."""
    script = from_row(row)
    found = [*_speech(script), *_answers(script)]
    indexed = list(enumerate(script.steps))
    views = [[pair for pair in indexed if pair[1].slip != slip] for slip in ("repeat", "missed")]
    for steps in views:
        found += _steps(script, steps)
        if not found:
            found += _endings(steps)
    return list(dict.fromkeys(found))


def _speech(script: Script) -> Iterator[Fault]:
    before = 0
    for index, update in enumerate(script.speech):
        if update.at_us < before:
            yield ("speech", index, "at"), "comes before the update in front of it"
        before = update.at_us


def _answers(script: Script) -> Iterator[Fault]:
    answers = [index for index, step in enumerate(script.steps) if step.answer is not None]
    if not answers:
        yield ("steps",), "never answers: no step has an 'answer'"
        return
    for index in range(answers[0] + 1, len(script.steps)):
        yield ("steps", index), "comes after the answer, which is the last step"


def _steps(script: Script, steps: list[tuple[int, Step]]) -> Iterator[Fault]:
    graph, made = Graph(), set[str]()
    everyone = sorted({step.call.id for _, step in steps if step.call is not None})
    before_writes = _before_writes(script, [step for _, step in steps])

    def lacks(ident: str) -> str | None:
        if ident in graph.calls:
            return None
        if ident in made:
            return f"the call '{ident}' has been removed"
        if ident in everyone:
            return f"the call '{ident}' is made only later"
        return f"there is no call '{ident}'{nearest(ident, everyone)}"

    for index, step in steps:
        place = ("steps", index)
        if step.heard > len(script.speech):
            yield (
                (*place, "heard"),
                f"is {step.heard}, but the query has {len(script.speech)} updates",
            )
        for ident in step.results:
            if fault := lacks(ident):
                yield (*place, "results"), fault
        if step.remove is not None and (fault := lacks(step.remove)):
            yield (*place, "remove"), fault
        changes = step.about in graph.calls
        if changes and step.results and step.about in before_writes:
            yield (
                (*place, "results"),
                (
                    f"changes '{step.about}' only after a result: by then what is written because "
                    "of it may be committed, which nothing changes"
                ),
            )
        if step.slip == "repeat" and graph.calls.get(step.about or "") != step.call:
            yield (*place, "slip"), "a repeat makes a call that stands again, as it is"
        if step.slip == "missed" and not changes:
            yield (*place, "slip"), "what is missed is a change or removal of a call that stands"
        if step.call is not None:
            if step.call.tool not in script.tools:
                hint = nearest(step.call.tool, script.tools)
                yield (*place, "tool"), f"unknown tool '{step.call.tool}'{hint}"
            sound = True
            for ident in step.call.references:
                if (
                    fault := "a call cannot use its own result"
                    if ident == step.call.id
                    else lacks(ident)
                ):
                    yield (*place, "arguments"), fault
                    sound = False
            made.add(step.call.id)
            graph.put(step.call)
            try:
                known = graph.calls
                in_order(
                    {i: tuple(r for r in c.references if r in known) for i, c in known.items()}
                )
            except ValueError as error:
                if sound:
                    yield (*place, "arguments"), str(error)
                return
        elif step.remove in graph.calls:
            graph.remove(str(step.remove))


def _before_writes(script: Script, steps: list[Step]) -> set[str]:
    """The ids that are written, at any time, or whose results go into what is written."""
    calls = [step.call for step in steps if step.call is not None]
    tools = script.tools
    found = {c.id for c in calls if c.tool in tools and tools[c.tool].effect == "write"}
    while more := {r for c in calls if c.id in found for r in c.references} - found:
        found |= more
    return found


def _endings(steps: list[tuple[int, Step]]) -> Iterator[Fault]:
    """Whether the answer can come: each call that stands waits for such as stand too."""
    stands = standing(step for _, step in steps)
    for ident, call in stands.items():
        index = next(i for i, step in steps if step is call.step)
        for other in call.step.results:
            if other not in stands:
                message = f"never answers: '{ident}' waits for '{other}', which is removed"
                yield ("steps", index, "results"), message
                return
    try:
        in_order({ident: call.needs for ident, call in stands.items()})
    except ValueError as error:
        yield ("steps",), f"never answers: {error}"
