"""What lambda may weigh, for the frontier of quality against cost."""

from __future__ import annotations

COST_KINDS: dict[str, dict[str, float]] = {
    "tokens": {"prompt_tokens": 1.0, "completion_tokens": 1.0},
    "retrievals": {"retrievals": 1.0},
}
"""Name -> weights of each kind of cost; tokens count in thousands."""
