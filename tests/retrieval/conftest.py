"""A small index, built and saved."""

import random
from pathlib import Path

import pytest

from evidencegym.data.records import Passage
from evidencegym.retrieval.bm25 import BM25Retriever

_WORDS = ("river", "film", "king", "song", "city", "Œuvre", "東京")


def _corpus(size: int) -> list[Passage]:
    choose = random.Random(4)
    odd = [Passage.of("Odd\ud800\u2028\n", ["A line\nend.", "", ' "king" \\ ']), Passage.of("", [])]
    return odd + [
        Passage.of(" ".join(choose.choices(_WORDS, k=2)), [" ".join(choose.choices(_WORDS, k=5)), "king"])
        for _ in range(size)
    ]


@pytest.fixture(name="built", scope="module")
def _built() -> BM25Retriever:
    return BM25Retriever.build(_corpus(60), k1=1.1, b=0.5, title_weight=3)


@pytest.fixture(name="folder")
def _folder(built: BM25Retriever, tmp_path: Path) -> Path:
    built.save(tmp_path / "index")
    return tmp_path / "index"
