"""Files to and from the simulator's own types, with every fault of a file reported at once."""
