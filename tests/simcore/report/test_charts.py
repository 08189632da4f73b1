from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simcore.report.charts import _label_places, _ticks

POINTS = st.tuples(st.floats(0, 280), st.floats(40, 340), st.text("abc-", min_size=1, max_size=20))


@given(st.lists(POINTS, min_size=1, max_size=9))
def test_labels_cover_neither_each_other_nor_a_point(
    points: list[tuple[float, float, str]],
) -> None:
    boxes = []
    for (x, _, text), (left, y) in zip(points, _label_places(points), strict=True):
        width = 7.2 * len(text)
        boxes.append((x - width, x - 5, y) if left else (x + 5, x + width, y))
    for i, (start, end, y) in enumerate(boxes):
        for low, high, other in boxes[:i]:
            assert not (start < high and low < end and abs(y - other) < 15.9)
        for x, height, _ in points:
            assert not (start < x < end and abs(y - height) < 15.9)


@given(st.floats(1e-3, 1e3))
def test_ticks_are_few_from_zero_and_within(top: float) -> None:
    ticks = _ticks(top)
    assert ticks[0] == 0
    assert 3 <= len(ticks) <= 7
    assert ticks[-1] <= top * (1 + 1e-6)
