"""The evidence state, the operations on it, their rules, and the engine that executes their requests."""
