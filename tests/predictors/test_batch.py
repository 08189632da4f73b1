"""The padded batch: every version weighs the same, and padding weighs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from predictors.batch import inputs, labelled
from predictors.features import features
from predictors.labels import observe
from tests.predictors.strategies import recordings

if TYPE_CHECKING:
    from simcore.trace import Recording

D = 320_000


@given(st.lists(recordings(), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_rows_are_the_observations_and_the_rest_is_padding(drawn: list[Recording]) -> None:
    batch = labelled(drawn, D)
    times, x = inputs(drawn, D)
    assert (batch.x == x).all()
    for row, (recording, at) in enumerate(zip(drawn, times, strict=True)):
        observed = observe(recording, D)
        count = len(observed)
        assert tuple(at) == tuple(o.at_us for o in observed)
        assert (x[row, :count] == features(recording.arrivals, at)).all()
        assert not x[row, count:].any()
        assert batch.real[row].tolist() == [step < count for step in range(x.shape[1])]
        assert batch.compatible[row, count:].all()
        for step, observation in enumerate(observed):
            outcomes = np.flatnonzero(batch.compatible[row, step]).tolist()
            assert outcomes == sorted(observation.outcomes)
        for version in {o.version for o in observed}:
            own = [step for step, o in enumerate(observed) if o.version == version]
            weights = batch.weight[row, own]
            assert np.isclose(weights.sum(), 1, atol=1e-6)
            assert len(set(weights.tolist())) == 1
