"""Results made by hand, for tests of tables and statistics."""

from typing import Any


def result(number: int, recall: float, retrievals: int, f1: float = 0.0, **cost: int) -> dict[str, Any]:
    """Return what is kept of an episode, as far as a comparison reads it."""
    spent = {"prompt_tokens": 100, "completion_tokens": 10, "generator_calls": 2, "retrievals": retrievals} | cost
    return {
        "uid": f"q{number}",
        "id": f"q{number}",
        "passages": [["p", "t"]] * (3 * retrievals),
        "cost": spent,
        "metrics": {
            "support_recall": recall,
            "full_support": float(recall == 1),
            "answer_f1": f1,
            "answer_em": float(f1 == 1),
        },
    }
