"""The life table and its forecasts: normalized, causal, and right where the truth is known."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predictors.cues import State
from predictors.forecast import digest, with_forecasts
from predictors.hazard import AGES_US, Hazard, Rates, Training, fit
from predictors.labels import STEP_US, observe
from simcore.errors import InputError
from simcore.trace import INTERVAL_ENDS_US, Arrival, Recording, Repair

from .strategies import recordings

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = Training(
    traces="t", digest="d", recordings=1, versions=1, observations=1, outcomes=(1,) * 12
)
PHRASES = ("at three", "at three no wait", "at three no wait at four")


def constant(event: float, end: float, ongoing: float, wrong: float) -> Hazard:
    rates = Rates(
        event=(event,) * 9,
        end=(end,) * 9,
        open=(ongoing,) * 9,
        open_at_end=0.25,
        wrong_at_end=wrong,
    )
    return Hazard(no_cue=rates, editing_phrase=rates, training=TRAINING)


RECORDINGS = recordings(st.sampled_from(PHRASES), labelled=True)
ENDED = Recording(
    recording_id="ended",
    audio_end_us=1_000_000,
    arrivals=(Arrival(900_000, 1_000_000, "at three", 0.9, "A", True),),
    labelled=True,
    target="A",
)


@given(st.lists(RECORDINGS, max_size=4), RECORDINGS)
@settings(max_examples=50, deadline=None)
def test_masses_are_a_distribution_at_every_tick_of_a_version(
    training: list[Recording], recording: Recording
) -> None:
    forecast = fit([*training, ENDED], "t").forecast(recording, 320_000)
    assert forecast.checkpoint == "hazard"
    assert forecast.masses is not None
    assert forecast.at_us == tuple(o.at_us for o in observe(recording, 320_000))
    for p_bad, masses in zip(forecast.p_bad, forecast.masses, strict=True):
        assert len(masses) == 12
        assert sum(masses) == pytest.approx(1, abs=1e-12)
        assert all(0 <= mass <= 1 for mass in masses)
        assert p_bad == 1 - masses[11]


@given(RECORDINGS, st.data())
@settings(max_examples=50, deadline=None)
def test_the_future_changes_no_earlier_forecast(recording: Recording, data: st.DataObject) -> None:
    model = fit([ENDED], "t")
    time = data.draw(st.integers(0, 40)) * 320_000
    past = tuple(a for a in recording.arrivals if a.arrived_at_us <= time)
    later = data.draw(RECORDINGS).arrivals
    future = tuple(
        replace(a, arrived_at_us=time + a.arrived_at_us, prefix_end_us=time + a.prefix_end_us)
        for a in later
    )
    if past and past[-1].is_final:
        future = ()
    other = Recording(
        recording_id="other",
        audio_end_us=recording.audio_end_us,
        arrivals=past + future,
        labelled=True,
        target="C",
    )

    def known(of: Recording) -> list[Any]:
        forecast = model.forecast(of, 320_000)
        rows = zip(forecast.at_us, forecast.p_bad, forecast.masses or (), strict=True)
        return [row for row in rows if row[0] <= time]

    assert known(other) == known(recording)


def test_constant_hazards_give_the_geometric_distribution() -> None:
    event, end, ongoing, wrong = 0.1, 0.05, 0.2, 0.3
    masses = constant(event, end, ongoing, wrong).masses(State(40_000, cue=False, final=False))
    assert masses[0] == pytest.approx(ongoing)
    stay, reach = 1 - event - end, [0, *(tau // STEP_US for tau in INTERVAL_ENDS_US)]
    for k in range(1, 9):
        within = sum(stay**n * event for n in range(reach[k - 1], reach[k]))
        assert masses[k] == pytest.approx((1 - ongoing) * within)
    assert masses[9] == pytest.approx((1 - ongoing) * stay**15 * event / (event + end))
    never = (1 - ongoing) * end / (event + end)
    assert masses[10:] == pytest.approx([never * wrong, never * (1 - wrong)])


def test_the_walk_follows_age_forward() -> None:
    model = constant(0.0, 0.2, 0.0, 0.0)
    sudden = (*model.no_cue.event[:4], 0.5, *model.no_cue.event[5:])
    model = model.model_copy(update={"no_cue": model.no_cue.model_copy(update={"event": sudden})})
    # The fifth bin holds ages 1.28 to 1.92 s: two steps, the fourth and fifth from age 0.32 s on.
    masses = model.masses(State(320_000, cue=False, final=False))
    assert [k for k, mass in enumerate(masses) if mass and k < 10] == [4, 5]
    assert masses[4] == pytest.approx(0.8**3 * 0.5)
    assert not any(model.masses(State(320_000, cue=True, final=False))[1:10])


def test_after_the_final_flush_no_event_is_left() -> None:
    masses = constant(0.5, 0.1, 0.9, 0.2).masses(State(0, cue=False, final=True))
    assert masses[:10] == (0.25, *(0.0,) * 9)
    assert masses[10:] == pytest.approx((0.15, 0.6))


def simulated(
    event: list[float], end: float, wrong: float, count: int, seed: int
) -> list[Recording]:
    """Recordings of one version whose life is drawn, step by step, from known hazards."""
    random, made = Random(seed), []
    for number in range(count):
        life, outcome = 0, None
        while outcome is None:
            age = max(i for i, begin in enumerate(AGES_US) if begin <= life * STEP_US)
            draw = random.random()
            life += 1
            if draw < event[age]:
                outcome = "event"
            elif draw < event[age] + end:
                outcome = "end"
        times = [(n + 1) * STEP_US for n in range(life + 1)]
        # After an event the recording ends at once, so that only first versions are at risk.
        arguments = ["A"] * life + ["B" if outcome == "event" else "A"]
        made.append(
            Recording(
                recording_id=str(number),
                audio_end_us=times[-1],
                arrivals=tuple(
                    Arrival(time, time, "at three", None, argument, time == times[-1])
                    for time, argument in zip(times, arguments, strict=True)
                ),
                labelled=True,
                target="C" if random.random() < wrong else arguments[-1],
            )
        )
    return made


@given(
    st.lists(st.floats(0.02, 0.5), min_size=9, max_size=9),
    st.floats(0.02, 0.2),
    st.floats(0.1, 0.9),
    st.integers(0, 2**32),
)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_recovers_known_hazards(event: list[float], end: float, wrong: float, seed: int) -> None:
    made = simulated(event, end, wrong, 600, seed)
    fitted = fit(made, "t").no_cue
    at_risk = [0] * 9
    for recording in made:
        for step in range(len(recording.arrivals) - 1):
            at_risk[max(i for i, begin in enumerate(AGES_US) if begin <= step * STEP_US)] += 1
    for age, n in enumerate(at_risk):
        # 5 standard errors, and at most the whole pull of the 10 smoothing observations.
        for truth, found in ((event[age], fitted.event[age]), (end, fitted.end[age])):
            assert abs(found - truth) <= 5 * (truth * (1 - truth) / max(n, 1)) ** 0.5 + 10 / (
                n + 10
            )
    assert abs(fitted.wrong_at_end - wrong) <= 5 * (wrong * (1 - wrong) / 600) ** 0.5 + 20 / 620


def test_an_editing_phrase_raises_the_mass_of_an_open_repair() -> None:
    def corrected(number: int) -> Recording:
        texts = ["at three", "at three", "at three no wait", "at three no wait at four"]
        return Recording(
            recording_id=str(number),
            audio_end_us=4 * 960_000,
            arrivals=tuple(
                Arrival(n * 960_000, n * 960_000, text, None, "B" if n == 4 else "A", n == 4)
                for n, text in enumerate(texts, start=1)
            ),
            labelled=True,
            target="B",
            repairs=(Repair(2_200_000, 3_500_000, "prospective"),),
        )

    model = fit([corrected(n) for n in range(30)], "t")
    calm = model.masses(State(1_000_000, cue=False, final=False))
    cued = model.masses(State(2_000_000, cue=True, final=False))
    assert cued[0] > 0.9
    assert calm[0] < 0.2
    # While the repair is open (from age 1.28 s on) no version is at risk of another event.
    assert model.no_cue.event[3] > 0.7
    assert model.no_cue.event[4] == model.no_cue.event[8]


def test_nothing_to_learn_from() -> None:
    for recording in (
        replace(ENDED, labelled=False),
        replace(ENDED, arrivals=(replace(ENDED.arrivals[0], argument=None),)),
    ):
        with pytest.raises(InputError, match=r"^recast/train: no recording with a target ends"):
            fit([recording], "recast/train")


def test_a_model_comes_back_from_its_file_and_is_deterministic(tmp_path: Path) -> None:
    made = simulated([0.2] * 9, 0.1, 0.3, 20, seed=1)
    first, second = tmp_path / "a" / "hazard.json", tmp_path / "hazard.json"
    fit(made, "t").save(first)
    fit(list(made), "t").save(second)
    assert first.read_bytes() == second.read_bytes()
    assert Hazard.load(first) == fit(made, "t")
    record = json.loads(first.read_text())["training"]
    assert record["recordings"] == 20
    assert record["digest"] == digest(made)


def test_forecasts_do_not_change_the_digest_but_anything_else_does() -> None:
    made = simulated([0.2] * 9, 0.1, 0.3, 5, seed=1)
    assert digest(with_forecasts(made, [fit(made, "t")], 320_000)) == digest(made)
    assert digest([*made[:-1], replace(made[-1], target="D")]) != digest(made)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "hazard/v2"}, r"schema: unknown value 'hazard/v2'; did you mean 'hazard/v1'"),
        ({"no_cu": 1}, r"no_cu: unknown key 'no_cu'; did you mean 'no_cue'\?"),
        ({"training": None}, "training: must be a mapping, not null"),
        ({"no_cue": {"event": [2.0] * 9}}, r"no_cue\.event\[0\]: 2.0 is above 1"),
        ({"no_cue": {"event": [0.1] * 8}}, r"no_cue\.event: .*8"),
        ({"no_cue": {"event": [0.9] * 9, "end": [0.2] * 9}}, "no_cue: .* at most 1"),
        (
            {"no_cue": {"event": [0.0] * 9, "end": [0.0] * 9}},
            "no_cue: the last age needs a way out",
        ),
    ],
)
def test_a_bad_model_file_is_one_clear_line(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    document = json.loads(constant(0.1, 0.1, 0.1, 0.1).model_dump_json(by_alias=True))
    for key, value in change.items():
        if isinstance(value, dict):
            document[key].update(value)
        else:
            document[key] = value
    path = tmp_path / "hazard.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match=f"^{path}: {message}") as caught:
        Hazard.load(path)
    assert "\n" not in str(caught.value)


def test_a_truncated_or_missing_model_file(tmp_path: Path) -> None:
    path = tmp_path / "hazard.json"
    with pytest.raises(InputError, match="there is no such file"):
        Hazard.load(path)
    constant(0.1, 0.1, 0.1, 0.1).save(path)
    path.write_text(path.read_text()[:200])
    with pytest.raises(InputError, match=r"line \d+, column \d+: is no JSON, or is cut short"):
        Hazard.load(path)
    path.write_text("[]")
    with pytest.raises(InputError, match="holds no JSON object"):
        Hazard.load(path)
