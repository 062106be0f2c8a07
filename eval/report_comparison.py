"""The tables that a report makes of per-question results: comparison, cost, and the use of operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .analysis import Analysis, Plot
from .comparison import COLUMNS, Comparison, compare
from .protocols import LEARNED
from .results import failures_of
from .statistics import Interval

FRACTIONS = ("support_recall", "full_support", "answer_f1", "answer_em")
_METHOD = ("method", "method")


@dataclass
class MethodResults:
    """What the tables need of one method's results; it grows result by result.

    Attributes:
        scored: the results that have metrics, as far as a comparison reads them, by uid.
        episodes: number of results.
        use: step, from 1 -> operation -> how often it ran there.
        failed: operation, or compress and answer of the conclusion -> how often it failed.
    """

    scored: dict[str, dict[str, Any]] = field(default_factory=dict)
    episodes: int = 0
    use: dict[int, Counter[str]] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)

    def add(self, result: Mapping[str, Any]) -> None:
        """Take in a result."""
        self.episodes += 1
        for step, operation in enumerate(map(str, result["operations"]), 1):
            self.use.setdefault(step, Counter())[operation] += 1
        self.failed += failures_of([result])
        if _has_numbers(result):
            self.scored[result["uid"]] = {key: result[key] for key in ("uid", "passages", "cost", "metrics")}


def _has_numbers(result: Mapping[str, Any]) -> bool:
    metrics = result.get("metrics")
    return isinstance(metrics, dict) and all(isinstance(metrics.get(name), (int, float)) for name in FRACTIONS)


def comparison_tables(protocol: str, methods: Mapping[str, MethodResults], seed: int = 0) -> list[Analysis]:
    """Return the tables of a protocol: means with intervals, paired differences, evidence against cost.

    Methods are compared over the questions that all of them hold; none are compared where there is no such question.

    Args:
        protocol: its name.
        methods: method -> its results.
        seed: seed of the bootstrap.
    """
    scored = {name: method.scored for name, method in methods.items() if method.scored}
    shared = [uid for uid in next(iter(scored.values()), {}) if all(uid in own for own in scored.values())]
    if not shared:
        return []
    rows = {name: [own[uid] for uid in shared] for name, own in scored.items()}
    found = compare(protocol, rows, LEARNED, seed)
    note = _note(found, max(map(len, scored.values())))
    return [_means(found, note), *_differences(found), *_costs(found)]


def _note(found: Comparison, most: int) -> str:
    left_out = f"; {most - found.questions} that not every method holds are left out" if most > found.questions else ""
    return f"{found.questions} questions{left_out}; 95 % bootstrap intervals over questions."


def _means(found: Comparison, note: str) -> Analysis:
    rows = [
        {"method": method, **{name: _mean(name, own[name]) for name, _ in COLUMNS}, **_drawn(own["support_recall"])}
        for method, own in found.means.items()
    ]
    plot = Plot("method", "support recall", "", "low", "high")
    return Analysis("means", "Means", note, (_METHOD, *COLUMNS), rows, plot)


def _differences(found: Comparison) -> list[Analysis]:
    if not found.differences:
        return []
    rows = [
        {
            "method": method,
            **{name: _signed(own[name]) for name in FRACTIONS},
            **_drawn(own["support_recall"], "difference in support recall"),
        }
        for method, own in found.differences.items()
    ]
    columns = (_METHOD, *((name, label) for name, label in COLUMNS if name in FRACTIONS))
    title = f"{found.reference} minus the others"
    asks = "Paired by question; an interval that leaves out 0 shows a difference."
    return [
        Analysis(
            "differences", title, asks, columns, rows, Plot("method", "difference in support recall", "", "low", "high")
        )
    ]


def _costs(found: Comparison) -> list[Analysis]:
    """Return support recall over the cost that tells the methods apart, if one does."""
    for name, label in (("retrievals", "retrievals"), ("tokens", "tokens")):
        if len({round(own[name].mean, 3) for own in found.means.values()}) > 1:
            rows = [
                {"method": method, name: own[name].mean, **_drawn(own["support_recall"])}
                for method, own in found.means.items()
            ]
            columns = (_METHOD, (name, label), ("support recall", "support recall"), ("low", "low"), ("high", "high"))
            asks = f"How much of the support does a method hold for its {label}? Means per question."
            plot = Plot(name, "support recall", "method", "low", "high")
            return [Analysis("cost", f"Support recall against {label}", asks, columns, rows, plot)]
    return []


def _drawn(value: Interval, key: str = "support recall") -> dict[str, float]:
    return {key: value.mean, "low": value.low, "high": value.high}


def _mean(name: str, value: Interval) -> str:
    if name not in FRACTIONS:
        return f"{value.mean:.2f}" if value.mean < 100 else f"{value.mean:.0f}"
    return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _signed(value: Interval) -> str:
    return f"{value.mean:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"


def matched_table(content: Any) -> list[Analysis]:
    """Return the differences at matched mean retrievals that the ``comparison.json`` of an evaluation holds, if any."""
    matched = content.get("matched") if isinstance(content, dict) else None
    if not isinstance(matched, dict) or not isinstance(matched.get("support_recall"), dict):
        return []
    rows = [
        {"baseline": name, "difference": own.get("mean"), "low": own.get("low"), "high": own.get("high")}
        for name, own in sorted(matched["support_recall"].items())
        if isinstance(own, dict)
    ]
    columns = tuple((key, key) for key in ("baseline", "difference", "low", "high"))
    asks = f"{LEARNED} minus the baseline in support recall, both at the same mean retrievals."
    plot = Plot("baseline", "difference", "", "low", "high")
    settings = {"mean retrievals": matched.get("retrievals")}
    return [Analysis("matched", "At matched mean retrievals", asks, columns, rows, plot, settings)]


def operation_tables(methods: Mapping[tuple[str, str], MethodResults]) -> list[Analysis]:
    """Return how often each operation ran, per question and by step, and, where something failed, what did.

    Args:
        methods: (protocol, method) -> its results.
    """
    names = _in_order(method.use.values() for method in methods.values())
    per_question = [_used(key, method, names) for key, method in methods.items()]
    by_step = [row for key, method in methods.items() for row in _by_step(key, method, names)]
    head = (("protocol", "protocol"), _METHOD)
    columns = tuple((name, name) for name in names)
    return [
        Analysis(
            "operations",
            "Runs per question",
            "How often does a method use each operation?",
            (*head, *columns, ("failed", "failed")),
            per_question,
        ),
        Analysis(
            "steps",
            "By step",
            "Of the episodes that reach a step, the share in per cent that runs each operation there.",
            (*head, ("step", "step"), ("episodes", "episodes"), *columns),
            by_step,
        ),
        *_failures(methods),
    ]


def _failures(methods: Mapping[tuple[str, str], MethodResults]) -> list[Analysis]:
    names = sorted({name for method in methods.values() for name in method.failed})
    if not names:
        return []
    rows = [
        {"protocol": key[0], "method": key[1], "episodes": method.episodes, **{n: method.failed[n] for n in names}}
        for key, method in methods.items()
    ]
    columns = (("protocol", "protocol"), _METHOD, ("episodes", "episodes"), *((name, name) for name in names))
    asks = "How often did each operation fail, over all episodes? A failed one is paid for and brings nothing."
    return [Analysis("failures", "Failures", asks, columns, rows)]


def _in_order(uses: Iterable[Iterable[Counter[str]]]) -> Sequence[str]:
    """Return the operations that ran, the most frequent first, then by name."""
    total: Counter[str] = Counter()
    for steps in uses:
        for step in steps:
            total.update(step)
    return sorted(total, key=lambda name: (-total[name], name))


def _used(key: tuple[str, str], method: MethodResults, names: Sequence[str]) -> dict[str, Any]:
    totals = {name: sum(step[name] for step in method.use.values()) for name in names}
    shares = {name: f"{totals[name] / method.episodes:.2f}" if totals[name] else "" for name in names}
    return {"protocol": key[0], "method": key[1], **shares, "failed": method.failed.total()}


def _by_step(key: tuple[str, str], method: MethodResults, names: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for step, use in sorted(method.use.items()):
        reached = use.total()
        shares = {name: f"{100 * use[name] / reached:.0f}" if use[name] else "" for name in names}
        rows.append({"protocol": key[0], "method": key[1], "step": step, "episodes": reached, **shares})
    return rows
