"""Search over passages: the protocol and its backends."""
