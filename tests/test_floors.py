"""Who may import whom: a floor imports the floors below it, and heavy or optional libraries stay in their corner."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

_BACKENDS = {"data", "retrieval", "generation", "ranking", "confidence"}
MAY_IMPORT = {
    "data": set[str](),
    "configs": {"data"},
    "retrieval": {"data"},
    "generation": {"data", "retrieval"},
    "ranking": {"data", "retrieval"},
    "confidence": {"data", "retrieval"},
    "actions": _BACKENDS,
    "envs": {*_BACKENDS, "actions"},
    "controllers": {"data", "confidence", "actions"},
    "training": {*_BACKENDS, "configs", "actions", "envs", "controllers"},
    "eval": {*_BACKENDS, "configs", "actions", "envs", "controllers"},
}
HOUSE = {*MAY_IMPORT, "cli", "tests", "evidencegym"}
NEURAL = {
    "generation/local_model.py",
    "confidence/sequence_classifier.py",
    "confidence/lookback.py",
    "retrieval/dense.py",
    "retrieval/sentence_encoder.py",
    "training/ppo.py",
    "training/evaluator_t5.py",
}
ONLY_IN = {
    "torch": NEURAL,
    "transformers": NEURAL,
    "sentence_transformers": NEURAL,
    "wandb": {"training/tracking.py"},
    "datasets": {"data/hub.py"},
    "openai": {"generation/chat_client.py"},
    "qdrant_client": {"retrieval/qdrant_index.py"},
    "tenacity": {"generation/chat_client.py", "data/retries.py", "retrieval/mediawiki_client.py"},
    "httpx": {"retrieval/mediawiki_client.py", "retrieval/qdrant_index.py"},
}


@dataclass(frozen=True)
class Import:
    """An import found in a file: the dots before the name, the name, whether it runs when the module is loaded."""

    dots: int
    name: str
    on_load: bool


def imports(tree: ast.AST) -> Iterator[Import]:
    """Yield every import of a module, those by ``import_module("name")`` included."""
    inside = {
        id(node)
        for holder in ast.walk(tree)
        if isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef) or is_type_checking(holder)
        for node in ast.walk(holder)
    }
    for node in ast.walk(tree):
        for dots, name in named(node):
            yield Import(dots, name, id(node) not in inside)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def named(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Import):
        yield from ((0, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        yield from ((node.level, f"{module}.{alias.name}".lstrip(".")) for alias in node.names)
    elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
        yield from ((0, str(arg.value)) for arg in node.args[:1] if isinstance(arg, ast.Constant))


def faults(path: str, source: str) -> list[str]:
    """Return what the rules forbid in a module of the package; ``path`` is relative to the root."""
    return [fault for found in imports(ast.parse(source)) if (fault := fault_of(path, found))]


def fault_of(path: str, found: Import) -> str:
    top, *rest = found.name.split(".")
    if not found.dots:
        return outside_fault(path, top, found.on_load)
    floors = path.split("/")[:-1]
    target = [*floors[: len(floors) - found.dots + 1], top, *rest][0]
    floor = floors[0] if floors else ""
    if path == "cli.py" or target in {floor, "__version__", *MAY_IMPORT.get(floor, ())}:
        return ""
    return f"{path}: {floor or 'the root'} must not import {target}"


def outside_fault(path: str, top: str, on_load: bool) -> str:
    if top in HOUSE:
        return f"{path}: {top} is imported by its bare name; write it relative"
    if top in ONLY_IN and path not in ONLY_IN[top]:
        return f"{path}: {top} belongs in {', '.join(sorted(ONLY_IN[top]))}"
    return f"{path}: {top} must be imported where it is used" if top in ONLY_IN and on_load else ""


def modules() -> list[str]:
    folders = [ROOT / name for name in MAY_IMPORT]
    files = [*ROOT.glob("*.py"), *(file for folder in folders for file in folder.rglob("*.py"))]
    return sorted(file.relative_to(ROOT).as_posix() for file in files)


@pytest.mark.parametrize("path", modules())
def test_a_module_imports_only_what_its_floor_may(path: str) -> None:
    assert faults(path, (ROOT / path).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("actions/x.py", "from ..envs import features"),
        ("actions/x.py", "from ..controllers.base import Controller"),
        ("controllers/x.py", "from ..generation.tasks import Answer"),
        ("controllers/x.py", "from .. import retrieval"),
        ("eval/x.py", "def f():\n    from ..training.fit import fit"),
        ("training/x.py", "from ..eval import score"),
        ("data/x.py", "from ..actions.state import EvidenceState"),
        ("envs/x.py", "from ..cli import main"),
        ("__init__.py", "from .envs import registration"),
        ("envs/x.py", "import actions"),
        ("envs/x.py", "from data.records import Gold"),
        ("envs/x.py", "from evidencegym.data.records import Gold"),
        ("envs/x.py", "import importlib\nimportlib.import_module('data.records')"),
        ("actions/x.py", "def f():\n    import torch"),
        ("training/fit.py", "def f():\n    import wandb"),
        ("retrieval/dense.py", "import torch"),
        ("retrieval/dense.py", "class A:\n    import torch.nn as nn"),
        ("data/hub.py", "from datasets import load_dataset"),
    ],
)
def test_a_forbidden_import_is_found(path: str, source: str) -> None:
    assert len(faults(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("actions/x.py", "from ..data.records import Passage\nfrom .state import EvidenceState\nfrom . import costs"),
        ("controllers/x.py", "from ..actions.names import PAPER\nimport numpy as np"),
        ("cli.py", "from .training.fit import fit\nfrom . import eval"),
        ("configs/sub/x.py", "from ..path import path\nfrom ...data.errors import ConfigError"),
        ("retrieval/dense.py", "def f():\n    import torch"),
        ("retrieval/dense.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch"),
        ("training/tracking.py", "def f():\n    import wandb"),
        ("data/hub.py", "def f():\n    import datasets"),
        ("retrieval/bm25_files.py", "from .. import __version__"),
    ],
)
def test_an_allowed_import_is_left_alone(path: str, source: str) -> None:
    assert faults(path, source) == []
