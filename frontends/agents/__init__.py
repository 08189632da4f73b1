"""Scripts of agents that call while the user speaks, and training sequences from playing them."""
