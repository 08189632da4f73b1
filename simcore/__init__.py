"""A discrete-event simulator of voice agents' tool calls, in which the commit rule is a policy."""
