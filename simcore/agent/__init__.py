"""Agents that think, listen and call tools at once: their scripts, and how these are played."""
