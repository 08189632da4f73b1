"""Traces to forecasts: what is known at a tick, what came of it, and models between the two."""
