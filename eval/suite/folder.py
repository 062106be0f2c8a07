"""The folder of one data set in a benchmark: results, and a manifest that grows with the methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...actions.workers import Workers
from ...data.errors import ConfigError, ManifestMismatchError
from ...data.storage import MANIFEST, differing, read_manifest, to_json, write_text
from ..results import read_results, write_results
from ..runner import run_on
from .contender import Contender

KIND = "benchmark"
BLOCK = 512
"""Questions whose replies an engine keeps for all methods; its cache holds those of a few thousand."""
Progress = Callable[[str, int, int], None]
_ALONE = {"oracle", "regret", "importance"}
"""Folders whose methods are not compared with each other."""
_TOGETHER = {"caps": "frontier"}
"""Folders whose methods are compared with those of another."""


class BenchmarkFolder:
    """Runs contenders into ``folder/<protocol>/<method>.jsonl``.

    Args:
        folder: the folder of the data set.
        about: what all its methods share; another benchmark in the folder is refused.

    Raises:
        ManifestMismatchError: if the folder holds results without a manifest, or those of another benchmark.
        DataError: if it cannot be read or written.
    """

    def __init__(self, folder: Path, about: Mapping[str, Any]) -> None:
        self.folder = folder
        self._about = {"kind": KIND, **about}
        self._methods: dict[str, Any] = self._open()

    @property
    def methods(self) -> dict[str, Any]:
        """Protocol/name -> what its results were made from, of every method that was ever begun here."""
        return dict(self._methods)

    def file(self, protocol: str, name: str) -> Path:
        """Return where the results of a method lie."""
        return self.folder / protocol / f"{name}.jsonl"

    def check(self, contender: Contender) -> None:
        """Check that a method may go on where it stopped.

        Raises:
            ManifestMismatchError: if its results were made from something else; the message names what differs.
        """
        known, file = self._methods.get(contender.key), self.file(contender.protocol, contender.name)
        if known is not None and file.exists() and (other := differing(known, contender.made_from)):
            raise ManifestMismatchError(
                f"{self.folder}: {contender.key} was begun with another {', '.join(other)}; delete {file}, or use "
                "another folder"
            )
        if beside := self._on_other_questions(contender):
            raise ManifestMismatchError(
                f"{self.folder}: {contender.key} would run on other questions than {beside} beside it; "
                f"take as many as there, delete {self.file(*beside.split('/', 1))}, or use another folder"
            )

    def _on_other_questions(self, contender: Contender) -> str | None:
        """Return a method that the contender is compared with and whose results are of other questions, if any."""
        group, asked = _group(contender.protocol), contender.made_from["questions"]
        for key, known in self._methods.items():
            protocol, name = key.split("/", 1)
            compared = protocol not in _ALONE and _group(protocol) == group
            if compared and known["questions"] != asked and self.file(protocol, name).exists():
                return key
        return None

    def begin(self, contenders: Iterable[Contender]) -> None:
        """Note methods in the manifest.

        Raises:
            ConfigError: if two methods have one name, as those of a repeated seed.
            ManifestMismatchError: see :meth:`check`; then none is noted.
            DataError: if the manifest cannot be written.
        """
        wanted = list(contenders)
        if repeated := sorted(key for key, times in Counter(c.key for c in wanted).items() if times > 1):
            raise ConfigError(
                f"several methods are called {', '.join(repeated)}; name each of seeds, caps and cost_grid once, "
                "no two of cost_grid alike to six digits"
            )
        for contender in wanted:
            self.check(contender)
        noted = self._methods | {contender.key: contender.made_from for contender in wanted}
        if noted != self._methods:
            self._methods = noted
            write_text(self.folder / MANIFEST, to_json({**self._about, "methods": noted}))

    def run(
        self,
        contenders: Sequence[Contender],
        progress: Callable[[Contender, int], None] | None = None,
        workers: Workers | None = None,
        block: int = BLOCK,
    ) -> None:
        """Run methods on every question that their files do not hold yet, block by block of questions.

        Methods that share an engine share its replies while they are on the same questions.

        Args:
            contenders: the methods, which :meth:`begin` has noted.
            progress: told of a method and how many of its episodes have been finished further.
            workers: who does the work; workers elsewhere share no replies, so they are given all questions at once.
            block: questions in a block, at least 1; it changes no result.

        Raises:
            DataError: if a file is damaged or cannot be written; the same call goes on from there.
        """
        crew, tell = workers or Workers(), progress or _silent
        done = {c.key: [r["uid"] for r in read_results(self.file(c.protocol, c.name))] for c in contenders}
        for contender in contenders:
            tell(contender, len(done[contender.key]))
        everything = _questions(contenders)
        for asked in _blocks(everything, block if crew.here else len(everything)):
            for contender in contenders:
                file = self.file(contender.protocol, contender.name)
                held = set(done[contender.key])
                todo = [r for r in contender.records if r.uid in asked and r.uid not in held]
                for size in run_on(contender.method, todo, contender.engine, file, workers=crew):
                    tell(contender, size)
                done[contender.key] += [record.uid for record in todo]
        for contender in contenders:
            if done[contender.key] != [record.uid for record in contender.records]:
                self._order(contender)

    def _order(self, contender: Contender) -> None:
        """Bring the results into the order of the questions, which a line deleted by hand has changed."""
        file = self.file(contender.protocol, contender.name)
        found = {result["uid"]: result for result in read_results(file)}
        write_results(file, [found[record.uid] for record in contender.records])

    def _open(self) -> dict[str, Any]:
        file = self.folder / MANIFEST
        if not file.exists():
            if next(self.folder.rglob("*.jsonl"), None):
                raise ManifestMismatchError(
                    f"{self.folder}: holds results without {MANIFEST}; delete it or use another folder"
                )
            return {}
        found = read_manifest(self.folder, KIND)
        methods = found.pop("methods", {})
        if other := differing(found, self._about):
            raise ManifestMismatchError(
                f"{self.folder}: holds a benchmark with another {', '.join(other)}; delete it or use another folder"
            )
        return dict(methods)


def _group(protocol: str) -> str:
    return _TOGETHER.get(protocol, protocol)


def _questions(contenders: Sequence[Contender]) -> list[str]:
    """Return the questions of all contenders, in the order of the one that has most."""
    by_size = sorted(contenders, key=lambda contender: -len(contender.records))
    return list(dict.fromkeys(record.uid for contender in by_size for record in contender.records))


def _blocks(questions: Sequence[str], size: int) -> Iterator[set[str]]:
    return (set(questions[first : first + size]) for first in range(0, len(questions), size))


def _silent(contender: Contender, size: int) -> None:
    """Tell nobody."""
