"""Published data sets of speech with tool calls, read in the layouts that they are released in."""
