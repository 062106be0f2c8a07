"""Which analyses are made of the results of a data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..analysis import Analysis
from ..protocols import LEARNED
from ..report_folder import stream_results
from .bound import bound_table
from .folder import BenchmarkFolder
from .frontier import COSTS, area_table, cap_table, equal_recall_table, frontier_table
from .operation_use import operation_table, operation_use
from .plan import ABLATED, CAPS, FRONTIER, ORACLE, TRANSFERRED
from .points import Point, capped_points, free_points, weighted_points
from .protocol_comparison import compare_protocol
from .protocols import FREE, PROTOCOLS
from .scores import Scores, check_paired, read_protocol
from .slices import slices
from .variants import ablation_table, transfer_table


@dataclass(frozen=True)
class Analyses:
    """Makes the analyses of everything that a folder holds, whichever command made it.

    Attributes:
        folder: of the data set.
        steps: control steps of its task.
        operations: names of its operation set.
        seed: of resamples and flips.
    """

    folder: BenchmarkFolder
    steps: int
    operations: Sequence[str]
    seed: int

    def make(self) -> Iterator[Analysis]:
        """Yield them.

        Raises:
            DataError: if a file of results is damaged.
        """
        found = {protocol: self._read(protocol) for protocol in PROTOCOLS}
        for protocol, methods in found.items():
            if methods:
                yield from self._compared(protocol, methods)
            if LEARNED in methods:
                yield self._operations(protocol)
                yield from self._variants(protocol, methods[LEARNED])
            if protocol == FREE and methods:
                yield from self._frontiers(methods)
        if oracle := self._read(ORACLE):
            yield bound_table(oracle, found, self.seed)

    def _read(self, protocol: str) -> dict[str, Scores]:
        return read_protocol(self.folder.folder, protocol, self.folder.methods)

    def _compared(self, protocol: str, methods: Mapping[str, Scores]) -> Iterator[Analysis]:
        comparison = compare_protocol(self.folder.folder.name, protocol, methods, self.seed)
        if comparison.tests:
            yield comparison.tests_table()
        if sliced := slices(protocol, methods, self.seed):
            yield sliced

    def _operations(self, protocol: str) -> Analysis:
        file = self.folder.file(protocol, LEARNED)
        uses = operation_use(stream_results(file), self.operations)
        return operation_table(protocol, uses, self.folder.methods[f"{protocol}/{LEARNED}"]["n_questions"])

    def _variants(self, protocol: str, learned: Scores) -> Iterator[Analysis]:
        if ablated := self._read(f"{protocol}{ABLATED}"):
            yield ablation_table(protocol, _on_same(learned, ablated), ablated, self.seed)
        if moved := self._read(f"{protocol}{TRANSFERRED}"):
            yield transfer_table(protocol, self.folder.folder.name, _on_same(learned, moved), moved, self.seed)

    def _frontiers(self, free: Mapping[str, Scores]) -> Iterator[Analysis]:
        caps, weighted = self._read(CAPS), self._read(FRONTIER)
        check_paired([*caps.values(), *weighted.values()])
        asked = next((own.uids for own in (*caps.values(), *weighted.values())), None)
        if asked is not None:
            free = {name: own.on(asked) for name, own in free.items()}
        capped = capped_points(caps, free, self.steps)
        points: list[Point] = [*free_points(free), *(p for p in capped if p.steps != self.steps)]
        points += weighted_points(weighted)
        if capped:
            yield cap_table(capped, self.seed)
        yield from (frontier_table(points, cost, self.seed) for cost in COSTS)
        yield area_table(points)
        yield equal_recall_table(points, self.seed)


def _on_same(learned: Scores, others: Mapping[str, Scores]) -> Scores:
    return learned.on(next(iter(others.values())).uids)
