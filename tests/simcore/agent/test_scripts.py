"""Scripts in files, the token clock, and the edges of what a task manager does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from policies.speculative_interaction import SpeculativeInteraction
from simcore import ToolProfile, load_scenario, run, simulate
from simcore.agent.script import from_row
from simcore.agent.simulation import AgentError, play
from simcore.errors import InputErrors, UsageError
from simcore.files.scripts import recording_of, write_scripts
from simcore.files.traces import read_traces, write_traces
from simcore.trace import Arrival, Recording

if TYPE_CHECKING:
    from pathlib import Path

    from simcore.agent.simulation import Played

TOOLS = {"find": {"runtime": 0.5}, "book": {"runtime": 0.3, "effect": "write"}}
ACTION = ToolProfile("any", 1_000_000, 500_000)


def row(steps: list[dict[str, Any]], *times: float, **changes: Any) -> dict[str, Any]:
    """A script of 100 tokens a second."""
    speech = [{"at": time, "text": "so"} for time in times or (1.0,)]
    found = {"schema": "script/v1", "id": "s", "tokens_per_second": 100, "tools": TOOLS}
    return {**found, "speech": speech, "steps": steps, **changes}


def call(ident: str, tool: str = "find", **step: Any) -> dict[str, Any]:
    arguments = step.pop("arguments", {})
    return {"call": ident, "tool": tool, "arguments": arguments, **step}


ANSWER = {"answer": 2}


def played(steps: list[dict[str, Any]], *times: float, **options: Any) -> Played:
    return play(from_row(row(steps, *times)), SpeculativeInteraction(**options))


def test_the_clock_is_counted_in_tokens() -> None:
    # 10 tokens from the query at 1 s, "<call> a find { }" is 5 more; then half a second; then the
    # answer's first token. The pause is a token that takes no time from the tool.
    assert played([call("a", think=10), ANSWER]).answer_us == 1_000_000 + 150_000 + 500_000 + 10_000
    assert played([call("a", think=10), ANSWER]).answer_s == 0.66


def test_what_arrives_is_put_in_at_the_end_of_a_token() -> None:
    found = played([call("a", heard=0, think=200), ANSWER], 1.003)
    cut = next(piece for piece in found.pieces if piece.cut)
    assert (cut.at_us, len(cut.tokens)) == (1_010_000, 101)
    assert found.answer_us == 2_050_000 + 500_000 + 10_000


def test_a_write_waits_for_the_pause_after_the_final_query() -> None:
    steps = [call("w", "book", heard=1), ANSWER]
    assert (
        played(steps, 1.0, 3.0).effects[0].at_us == played(steps, 1.0, 3.0).commit_us == 3_010_000
    )
    assert played(steps, 1.0, 3.0, hold_writes=False).effects[0].at_us == 1_050_000


def test_a_repeat_of_what_is_committed_is_refused() -> None:
    again = call("w", "book", heard=2, slip="repeat", think=1)
    # The result of `a` keeps the agent from repeating before it has paused.
    steps = [call("w", "book", heard=1), call("a", heard=1), again, ANSWER]
    early = played(steps, 1.0, 1.2)
    assert (len(early.effects), early.right) == (1, True)
    assert any(
        "rejected" in piece.tokens for piece in played(steps, 1.0, 1.2, hold_writes=False).pieces
    )


def test_a_change_reruns_what_depends_on_it() -> None:
    steps = [
        call("a", heard=1),
        call("b", heard=1, arguments={"of": "$a"}),
        call("a", heard=2, arguments={"other": 1}),
        ANSWER,
    ]
    found = played(steps, 1.0, 4.0)
    assert (found.runs, found.wasted, found.right) == (4, 2, True)
    assert found.answer_us > 4_000_000 + 2 * 500_000


def test_a_missed_correction_ends_wrong_with_speculation_alone() -> None:
    steps = [
        call("w", "book", heard=1, arguments={"at": 3}),
        call("w", "book", heard=2, arguments={"at": 4}, slip="missed"),
        ANSWER,
    ]
    wrong = played(steps, 1.0, 2.0)
    assert (wrong.right, wrong.wrong_effects, wrong.missing_effects) == (False, 1, 1)
    assert played(steps, 1.0, 2.0, system="sequential").right


FAULTY = {
    "comes before the update": (row([call("a"), ANSWER], 2.0, 1.0), "speech[1].at"),
    "never answers: no step": (row([call("a")]), "steps"),
    "comes after the answer": (row([ANSWER, call("a")]), "steps[1]"),
    "unknown tool 'fnd'; did you mean 'find'": (row([call("a", "fnd"), ANSWER]), "steps[0].tool"),
    "there is no call 'zz'": (row([call("a", arguments={"x": "$zz"}), ANSWER]), "arguments"),
    "has been removed": (
        row([call("a"), {"remove": "a"}, call("b", results=["a"]), ANSWER]),
        "[2]",
    ),
    "made only later": (row([call("b", arguments={"x": "$a"}), call("a"), ANSWER]), "steps[0]"),
    "in a circle: a -> b -> a": (
        row(
            [
                call("a"),
                call("b", arguments={"x": "$a"}),
                call("a", arguments={"x": "$b"}),
                ANSWER,
            ]
        ),
        "steps[2].arguments",
    ),
    "which nothing changes": (
        row([call("w", "book"), call("w", "book", results=["w"]), ANSWER]),
        "steps[1].results",
    ),
    "waits for 'a', which is removed": (
        row([call("a"), call("b", results=["a"]), {"remove": "a"}, ANSWER]),
        "steps[1].results",
    ),
    "the query has 1 updates": (row([call("a", heard=2), ANSWER]), "steps[0].heard"),
    "unknown key 'anser'; did you mean 'answer'": (row([{"anser": 1}]), "steps[0].anser"),
    "a step has one act": (row([call("a", remove="b")]), "steps[0]"),
}


@pytest.mark.parametrize("message", FAULTY)
def test_faults_are_named_with_their_place(message: str, tmp_path: Path) -> None:
    script, place = FAULTY[message]
    file = tmp_path / "scripts.jsonl"
    write_scripts(file, [row([ANSWER], id="good"), script])
    with pytest.raises(InputErrors) as caught:
        read_traces(file)
    fault = next(fault for fault in caught.value.faults if message in fault.message)
    assert fault.file == str(file)
    assert (fault.place or "").startswith("line 2")
    assert place in (fault.place or "")


def test_a_script_file_runs_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "schema: script/v1\n"
        "tools: {find: {runtime: 500 ms}}\n"
        "scripts:\n"
        "- id: one\n"
        "  speech: [{at: 1 s}, {at: 2 s}]\n"
        "  steps: [{heard: 1, call: a, tool: find}, {answer: 3}]\n"
    )
    (tmp_path / "scenario.yaml").write_text(
        "schema: scenario/v1\n"
        "name: mine\n"
        "traces: mine.yaml\n"
        "actions: [{name: any, runtime: 1 s, cancel_window: 1 s}]\n"
        "policies: [eou, speculative_interaction]\n"
    )
    frame = run(load_scenario(tmp_path / "scenario.yaml"))
    assert frame["success"].to_list() == [True, True]
    # The rule is asked at 2.24 s and the plan runs for 0.5 s; the agent is done but for a token.
    assert frame["delay_s"].to_list() == pytest.approx([0.75, 0.006767])
    recordings = read_traces(tmp_path / "mine.yaml")
    write_traces(tmp_path / "copy.parquet", recordings)
    assert read_traces(tmp_path / "copy.parquet") == recordings


def test_without_a_script_there_is_nothing_to_play() -> None:
    plain = Recording("r", 9, (Arrival(9, 9, "", None, None, True),))
    with pytest.raises(UsageError, match="'r' has no script"):
        simulate(plain, ACTION, SpeculativeInteraction)


def test_an_agent_that_comes_to_no_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    script = row([call("a"), ANSWER])
    monkeypatch.setattr(SpeculativeInteraction, "_ended", lambda *_: [])
    with pytest.raises(AgentError, match="never answers: it lacks results of a"):
        play(from_row(script), SpeculativeInteraction())
    from simcore.experiment import run as run_all
    from simcore.scenario import PolicySpec, Scenario

    scenario = Scenario(
        "x",
        (recording_of(script),),
        (ACTION,),
        (PolicySpec("speculative_interaction", "speculative_interaction"),),
    )
    frame = run_all(scenario)
    assert frame["failure"].to_list() == ["agent_error"]
    assert "never answers" in frame["error"][0]
    assert json.loads(recording_of(script).settings or "")["agent"] == script
