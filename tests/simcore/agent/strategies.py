"""Random scripts that hold to the rules of script files."""

from __future__ import annotations

from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from simcore.agent.check import faults
from simcore.agent.graph import Graph
from simcore.agent.script import Call

TOOLS = ("look", "find", "book")


@st.composite
def rows(draw: st.DrawFn, *, slips: bool = True) -> dict[str, Any]:
    """A row of script/v1: calls, changes, removals and slips in any order, heard at any time."""
    times = sorted(draw(st.lists(st.integers(0, 4_000), min_size=1, max_size=4)))
    graph, steps, heard = Graph(), list[dict[str, Any]](), 0
    for number in range(draw(st.integers(0, 10))):
        stands = list(graph.calls)
        acts = ["call"] + ["change", "change", "remove", "think"] * bool(stands)
        act = draw(st.sampled_from(acts + ["repeat", "miss"] * (slips and bool(stands))))
        # Mostly in the order in which it is heard, so that what changes has been done before.
        last = len(times)
        heard = draw(st.sampled_from([heard, min(heard + 1, last), draw(st.integers(0, last))]))
        step: dict[str, Any] = {
            "heard": heard,
            "think": draw(st.integers(0, 40)),
        }
        if act == "remove":
            step["remove"] = draw(st.sampled_from(stands))
            graph.remove(step["remove"])
        elif act == "repeat":
            again = graph.calls[draw(st.sampled_from(stands))]
            step |= _call(again) | {"slip": "repeat"}
        elif act != "think":
            ident = f"c{number}" if act == "call" else draw(st.sampled_from(stands))
            tool = draw(st.sampled_from(TOOLS)) if act == "call" else graph.calls[ident].tool
            inputs = [i for i in stands if i != ident and i not in graph.dependants(ident)]
            few = {"min_size": draw(st.integers(0, 1)), "max_size": 2, "unique": True}
            used = draw(st.lists(st.sampled_from(inputs), **few)) if inputs else []
            refs = "".join(f',"{other}":"${other}"' for other in used)
            call = Call(ident, tool, f'{{"n":{number}{refs}}}')
            step |= _call(call)
            if act == "miss":
                step["slip"] = "missed"
            graph.put(call)
            read = (
                draw(st.lists(st.sampled_from(inputs), unique=True, max_size=2)) if inputs else []
            )
            if act == "call" or tool != "book":
                step["results"] = read
        steps.append(step)
    row = {
        "schema": "script/v1",
        "id": "random",
        "tokens_per_second": draw(st.sampled_from([100, 150, 200, 1000])),
        "tools": {
            "look": {"runtime": f"{draw(st.integers(0, 2_000))} ms"},
            "find": {"runtime": f"{draw(st.integers(0, 500))} ms"},
            "book": {"runtime": f"{draw(st.integers(0, 900))} ms", "effect": "write"},
        },
        "speech": [{"at": f"{time} ms", "text": "so um"} for time in times],
        "steps": [*steps, {"think": draw(st.integers(0, 20)), "answer": 3}],
    }
    assume(not faults(row))
    return row


def _call(call: Call) -> dict[str, Any]:
    import json

    return {"call": call.id, "tool": call.tool, "arguments": json.loads(call.arguments)}
