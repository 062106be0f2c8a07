"""Quality against cost: the cap sweep, the frontier over lambda with its area, and the cost of equal recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..analysis import Analysis, Plot, Row, spread, spread_columns
from ..protocols import LEARNED
from ..statistics import bootstrap_columns
from .baselines import WITH_RANKER
from .points import FIXED, Point, area
from .scores import COLUMNS

QUALITIES = ("support_recall", "answer_f1")
COSTS = ("retrievals", "tokens")


def cap_table(points: Sequence[Point], seed: int = 0) -> Analysis:
    """Return the methods under each limit on the control steps."""
    columns = [("method", "method"), ("steps", "steps"), *_quality_columns(), *((c, COLUMNS[c]) for c in COSTS)]
    rows = [{"method": p.family, "steps": p.steps, **own} for p, own in zip(points, _numbers(points, seed))]
    asks = (
        "What does each further control step bring? Free stopping under other limits on the steps; the learned "
        f"controller is not trained again. {FIXED} retrieves once a step. 95 % bootstrap intervals."
    )
    plot = Plot("steps", "support_recall", "method", "support_recall_low", "support_recall_high")
    return Analysis("caps", "Cap sweep", asks, columns, rows, plot)


def frontier_table(points: Sequence[Point], cost: str, seed: int = 0) -> Analysis:
    """Return every setting at its mean cost, for one kind of cost."""
    columns = [("family", "method"), ("setting", "setting"), (cost, COLUMNS[cost]), *_quality_columns()]
    ordered = sorted(points, key=lambda p: (p.family != LEARNED, p.family, p.scores.mean(cost), p.setting))
    rows = [{"family": p.family, "setting": p.setting, **own} for p, own in zip(ordered, _numbers(ordered, seed))]
    asks = (
        f"What do more {COLUMNS[cost]} buy? Each point is one setting at free stopping: lambda (the weight of expected "
        "tokens in thousands, or of expected retrievals), a limit on the steps, or neither. Means per question."
    )
    plot = Plot(cost, "support_recall", "family", "support_recall_low", "support_recall_high")
    return Analysis(f"frontier_{cost}", f"Frontier: quality against {COLUMNS[cost]}", asks, columns, rows, plot)


def area_table(points: Sequence[Point]) -> Analysis:
    """Return the normalised area under the frontier of the learned controller, of fixed-k and of all baselines."""
    families: dict[str, list[Point]] = {LEARNED: [], "all baselines": [], FIXED: []}
    for point in points:
        for name in (point.family, *(() if point.family == LEARNED else ("all baselines",))):
            families.setdefault(name, []).append(point)
    kept = {name: own for name, own in families.items() if len(own) > 1}
    rows: list[Row] = []
    for cost in COSTS:
        low, high = _range(kept, cost)
        for name, own in kept.items():
            found = {quality: area(own, cost, quality, low, high) for quality in QUALITIES}
            rows.append({"cost": COLUMNS[cost], "family": name, "low": low, "high": high, **found})
    columns = [("cost", "cost"), ("family", "method"), ("low", "from"), ("high", "to")]
    columns += [(quality, f"area, {COLUMNS[quality]}") for quality in QUALITIES]
    asks = (
        "How good is a method over a whole range of costs? The area under its frontier divided by the range, which is "
        "its mean quality there. The frontier joins the undominated settings by straight lines (a draw between two "
        "settings reaches them in expectation) and stays level beyond the dearest. The range is from the least cost "
        "that all these methods reach to the highest of any."
    )
    return Analysis("frontier_area", "Area under the frontier", asks, columns, rows)


def equal_recall_table(points: Sequence[Point], seed: int = 0) -> Analysis:
    """Return the cheapest setting of the learned controller that reaches the best baseline, by quality and cost."""
    rows = []
    for quality in QUALITIES:
        own = [point for point in points if point.family == LEARNED]
        free = [point for point in points if point.family != LEARNED and point.steps is None]
        plain = [point for point in free if WITH_RANKER not in point.method]
        for among in (plain, free) if own and len(plain) < len(free) else (free,) if own else ():
            if among:
                best = max(among, key=lambda point: point.scores.mean(quality))
                rows += [_cheapest(own, best, quality, cost, seed) for cost in COSTS]
    columns = [("quality", "quality"), ("cost", "cost"), ("baseline", "best baseline"), ("wanted", "its quality")]
    columns += [("baseline_cost", "its cost"), ("setting", "learned, setting"), ("reached", "quality")]
    columns += [("learned_cost", "cost"), ("share", "share of the cost")]
    columns += [*spread_columns("difference", "Δ quality"), *spread_columns("cost_difference", "Δ cost")]
    asks = (
        "At what share of its cost does the learned controller reach the best baseline? Of its settings (lambda, "
        "steps) whose mean quality is at least that of the best baseline at free stopping, the cheapest; no setting "
        "where none reaches it. Where baselines also run with the ranker, the best without it comes first. Δ is "
        "learned minus baseline, paired, 95 % bootstrap interval. The setting is chosen on the questions that it is "
        "reported on, which favours it."
    )
    return Analysis("equal_recall", "Cost at equal quality", asks, columns, rows)


def _cheapest(own: Sequence[Point], best: Point, quality: str, cost: str, seed: int) -> Row:
    wanted, paid = best.scores.mean(quality), best.scores.mean(cost)
    row: Row = {"quality": COLUMNS[quality], "cost": COLUMNS[cost], "baseline": best.method, "wanted": wanted}
    row["baseline_cost"] = paid
    reaching = [point for point in own if point.scores.mean(quality) >= wanted]
    if not reaching:
        ends = [f"{name}{end}" for name in ("difference", "cost_difference") for end in ("", "_low", "_high")]
        return row | dict.fromkeys(["setting", "reached", "learned_cost", "share", *ends])
    found = min(reaching, key=lambda point: (point.scores.mean(cost), -point.scores.mean(quality), point.setting))
    mean = found.scores.mean(cost)
    row |= {"setting": found.setting, "reached": found.scores.mean(quality), "learned_cost": mean}
    row["share"] = mean / paid if paid else None
    differences = found.scores.columns([quality, cost]) - best.scores.columns([quality, cost])
    gained, saved = bootstrap_columns(differences, seed)
    return row | spread("difference", gained) | spread("cost_difference", saved)


def _range(families: Mapping[str, Sequence[Point]], cost: str) -> tuple[float, float]:
    costs = [[point.scores.mean(cost) for point in own] for own in families.values()]
    return max(map(min, costs), default=0.0), max(map(max, costs), default=0.0)


def _quality_columns() -> list[tuple[str, str]]:
    return [part for name in QUALITIES for part in spread_columns(name, COLUMNS[name])]


def _numbers(points: Sequence[Point], seed: int) -> list[Row]:
    """Return the costs and qualities of each point; all see the same resamples."""
    if not points:
        return []
    stacked = np.concatenate([point.scores.columns(QUALITIES) for point in points], axis=1)
    found = iter(bootstrap_columns(stacked, seed))
    rows: list[Row] = [{cost: point.scores.mean(cost) for cost in COSTS} for point in points]
    for row in rows:
        for name in QUALITIES:
            row.update(spread(name, next(found)))
    return rows
