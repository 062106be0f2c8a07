"""The benchmarks that evidencegym knows: names and readers of their files, and what the paper sets for each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import hotpotqa, musique, twowiki
from .errors import ConfigError, DataError
from .fields import Raw
from .files import parse_items
from .records import Record


@dataclass(frozen=True, slots=True)
class Dataset:
    """A benchmark.

    Attributes:
        name: its key in ``DATASETS``, and the name of its folder.
        parse: turns a raw record of the official files into a ``Record``.
        train_files: names that the official train file may have, each plain or with ``.gz``.
        dev_files: likewise for the dev file (HotpotQA: the distractor setting).
        match_support_by: ``"title"`` or ``"id"``, as in ``Gold``.
        compress_style: the form of compressed evidence (DynaKRAG, settings of the main runs).
        max_snippets: most snippets that compression keeps.
        max_tokens: most tokens that compression keeps, in the generator's unit.
    """

    name: str
    parse: Callable[[Raw], Record]
    train_files: tuple[str, ...]
    dev_files: tuple[str, ...]
    match_support_by: Literal["title", "id"]
    compress_style: Literal["snippets", "fact_table"]
    max_snippets: int
    max_tokens: int

    def files(self, split: str) -> tuple[str, ...]:
        """Return the file names of the split ``"train"`` or ``"dev"``.

        Raises:
            ConfigError: for any other split.
        """
        names = {"train": self.train_files, "dev": self.dev_files}
        if split not in names:
            raise ConfigError(f"unknown split {split!r}: expected one of {', '.join(names)}")
        return names[split]


_HOTPOTQA = Dataset(
    name=hotpotqa.NAME,
    parse=hotpotqa.parse,
    train_files=("hotpot_train_v1.1.json", "hotpot_train_distractor.json"),
    dev_files=("hotpot_dev_distractor_v1.json", "hotpot_dev_distractor.json"),
    match_support_by="title",
    compress_style="snippets",
    max_snippets=8,
    max_tokens=256,
)
_TWOWIKI = Dataset(
    name=twowiki.NAME,
    parse=twowiki.parse,
    train_files=("train.json",),
    dev_files=("dev.json",),
    match_support_by="title",
    compress_style="snippets",
    max_snippets=8,
    max_tokens=256,
)
_MUSIQUE = Dataset(
    name=musique.NAME,
    parse=musique.parse,
    train_files=("musique_ans_v1.0_train.jsonl",),
    dev_files=("musique_ans_v1.0_dev.jsonl",),
    match_support_by="id",
    compress_style="fact_table",
    max_snippets=12,
    max_tokens=384,
)

DATASETS: dict[str, Dataset] = {dataset.name: dataset for dataset in (_HOTPOTQA, _TWOWIKI, _MUSIQUE)}


def named(dataset: str) -> Dataset:
    """Return the benchmark of this name.

    Raises:
        ConfigError: if there is none.
    """
    if dataset not in DATASETS:
        raise ConfigError(f"unknown data set {dataset!r}: expected one of {', '.join(DATASETS)}")
    return DATASETS[dataset]


def read(dataset: str, file: Path) -> list[Record]:
    """Read an official file, plain or gzip, in the order of the file.

    Any file in the official format of the data set is read: other splits, HotpotQA's fullwiki setting, MuSiQue-Full,
    and test sets, whose gold has no answers.

    Raises:
        ConfigError: if there is no such data set.
        DataError: if the file cannot be read, holds no record, or a record is malformed or of another data set; the
            message gives the file and the record number.
    """
    return parse_items(file, named(dataset).parse, f"records of {dataset!r}")


def locate(dataset: str, folder: Path, split: str) -> Path:
    """Return the official train or dev file, looked for in ``folder/<dataset>`` and ``folder``, plain before ``.gz``.

    Raises:
        ConfigError: if there is no such data set or split.
        DataError: if the file is not there; the message lists what was looked for.
    """
    names = [name + suffix for name in named(dataset).files(split) for suffix in ("", ".gz")]
    for place in (folder / dataset, folder):
        for name in names:
            if (place / name).is_file():
                return place / name
    raise DataError(
        f"found no {split} file of {dataset!r}: looked for {', '.join(names)} in {folder / dataset} and in {folder}; "
        "put the official file there, or name the folder that holds it"
    )
