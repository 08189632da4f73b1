"""The same script as three systems play it: what each of them does, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from simcore.agent.graph import Graph, in_order
from simcore.agent.script import Step, result_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simcore.agent.script import Script, Tokens
    from simcore.clock import Microseconds
    from simcore.trace import Argument

System = Literal["speculative", "asynchronous", "sequential"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A call that stands in the end: the step that gave it its form, and the first thinking."""

    step: Step
    think: Tokens

    @property
    def needs(self) -> Tokens:
        """The ids that must have answered before it can be made or run."""
        assert self.step.call is not None
        return tuple(dict.fromkeys((*self.step.call.references, *self.step.results)))


def right_steps(script: Script) -> tuple[Step, ...]:
    """What an agent without slips does; what it ends with is what is right."""
    return tuple(step for step in script.steps if step.slip != "repeat")


def steps_taken(script: Script) -> tuple[Step, ...]:
    """What the agent of the script does, slips included."""
    return tuple(step for step in script.steps if step.slip != "missed")


def standing(steps: Iterable[Step]) -> dict[str, Standing]:
    """The calls that stand after some steps, in the order in which they were first made."""
    graph, found = Graph(), dict[str, Standing]()
    for step in steps:
        if step.call is not None:
            before = found.get(step.call.id)
            found[step.call.id] = Standing(step, before.think if before else step.think)
            graph.put(step.call)
        elif step.remove is not None:
            for ident in graph.remove(step.remove):
                found.pop(ident, None)
    return found


def resolved(stands: Mapping[str, Standing]) -> dict[str, Argument]:
    """The calls with everything filled in, as tools get them."""
    arguments: dict[str, Argument] = {}
    for ident in in_order({ident: call.needs for ident, call in stands.items()}):
        call = stands[ident].step.call
        assert call is not None
        results = {other: result_of(arguments[other]) for other in call.references}
        arguments[ident] = call.resolved(results)
    return arguments


def program(script: Script, system: System) -> tuple[Step, ...]:
    """What a system does with a script.

    - `sequential`: when the whole query is there, the calls that are right one by one; it waits for
      each;
    - `asynchronous`: thinks while it listens, but calls nothing before the query is complete, and
      then waits only for the results that it reads;
    - `speculative`: all that the script says, slips included.

    Neither of the others slips: what they call, they call after the last word.
    """
    if system == "speculative":
        return steps_taken(script)
    steps = right_steps(script)
    stands = standing(steps)
    final = len(script.speech)
    made: list[Step] = []
    for ident in in_order({ident: call.needs for ident, call in stands.items()}):
        call = stands[ident]
        if system == "sequential":
            before = tuple(step.about for step in made if step.about is not None)
            made.append(replace(call.step, heard=final, think=call.think, results=before))
            continue
        made += (
            Step(step.heard, step.think, step.results)
            for step in steps
            if step.about == ident and step.think and (step is call.step or not step.results)
        )
        made.append(replace(call.step, heard=final, think=()))
    made += [step for step in steps if step.answer is not None]
    return tuple(made)


def lower_bound_us(script: Script) -> Microseconds:
    """From the final query to the answer, at least: the longest path after the last needed word.

    As if tokens took no time: a read begins when its words are said and what it needs is there, a
    write not before the query is complete.
    """
    updates, final = script.speech, script.final_us
    return max(0, _path_us(script, [0, *(update.at_us for update in updates)], final) - final)


def longest_path_us(script: Script) -> Microseconds:
    """How long the calls that are right take, if all is known at the start."""
    return _path_us(script, [0] * (len(script.speech) + 1), 0)


def _path_us(
    script: Script, heard_us: Sequence[Microseconds], final_us: Microseconds
) -> Microseconds:
    stands = standing(right_steps(script))
    done: dict[str, Microseconds] = {}
    for ident in in_order({ident: call.needs for ident, call in stands.items()}):
        call = stands[ident]
        assert call.step.call is not None
        tool = script.tools[call.step.call.tool]
        known = final_us if tool.effect == "write" else heard_us[call.step.heard]
        done[ident] = max([known, *(done[other] for other in call.needs)]) + tool.runtime_us
    return max(done.values(), default=0)
