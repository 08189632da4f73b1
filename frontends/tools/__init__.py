"""The tools that a parser may call: read from files, and calls compared by their fields' types."""
