"""One trajectory on a time axis: as a picture, and as a trace for Perfetto."""

from simcore.files.pictures import save_picture as save_timeline
from simcore.timeline.perfetto import perfetto, perfetto_run
from simcore.timeline.picture import timeline_chart

__all__ = ["perfetto", "perfetto_run", "save_timeline", "timeline_chart"]
