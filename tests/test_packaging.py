"""The wheel holds what the repository holds (packages, files beside the code, version); importing it does nothing."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import evidencegym

ROOT = Path(__file__).parents[1]
NOT_SHIPPED = {"tests", "docs", "benchmarks", "build", "dist"}
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: dict[str, Any] = PROJECT["tool"]["setuptools"]


def package_folders(root: Path) -> Iterator[Path]:
    """Yield the folders that hold an ``__init__.py``, the root first, but hidden, unshipped and virtual ones."""
    for init in sorted(root.rglob("__init__.py")):
        parts = init.relative_to(root).parts[:-1]
        hidden = any(part.startswith(".") for part in parts)
        virtual = any((root.joinpath(*parts[: i + 1]) / "pyvenv.cfg").exists() for i in range(len(parts)))
        if not hidden and not virtual and not NOT_SHIPPED.intersection(parts[:1]):
            yield init.parent


def module_name(folder: Path) -> str:
    return ".".join(("evidencegym", *folder.relative_to(ROOT).parts))


def in_new_process(code: str) -> str:
    """Run code where nothing is imported yet; ``-P`` keeps the working folder out of the search path."""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def test_packages_are_the_folders_with_an_init() -> None:
    assert sorted(SETUPTOOLS["packages"]) == sorted(map(module_name, package_folders(ROOT)))


def test_only_the_package_and_the_command_line_stand_in_the_root() -> None:
    assert {file.name for file in ROOT.glob("*.py")} <= {"__init__.py", "cli.py"}


def test_every_file_beside_the_code_is_shipped() -> None:
    forgotten = []
    for folder in package_folders(ROOT):
        patterns = SETUPTOOLS["package-data"].get(module_name(folder), [])
        beside = [file for file in folder.iterdir() if file.is_file() and not file.name.endswith((".py", ".pyc"))]
        if folder != ROOT:
            forgotten += [str(file) for file in beside if not any(fnmatch(file.name, p) for p in patterns)]
    assert forgotten == []


def test_every_folder_beside_the_code_is_shipped() -> None:
    packages = set(package_folders(ROOT))
    forgotten = []
    for package in packages - {ROOT}:
        patterns = SETUPTOOLS["package-data"].get(module_name(package), [])
        beside = {folder for folder in package.iterdir() if folder.is_dir() and folder.name != "__pycache__"}
        forgotten += [str(f) for f in beside - packages if not any(p.startswith(f"{f.name}/") for p in patterns)]
    assert forgotten == []


def test_the_version_is_the_same_everywhere() -> None:
    version = PROJECT["project"]["version"]
    assert evidencegym.__version__ == version
    assert f"version: {version}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()


def test_every_dependency_has_its_reason_in_contributing() -> None:
    extras = PROJECT["project"]["optional-dependencies"].values()
    required = [*PROJECT["project"]["dependencies"], *(line for extra in extras for line in extra)]
    names = [re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0] for line in required]
    reasons = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Dependencies")[2].partition("## Code")[0]
    )
    assert [name for name in names if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", reasons)] == []


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import evidencegym; print(*sorted(set(sys.modules) - before))"
    assert in_new_process(code).split() == ["evidencegym"]


def test_importing_the_package_takes_under_half_a_second() -> None:
    code = "import time; start = time.perf_counter(); import evidencegym; print(time.perf_counter() - start)"
    assert float(in_new_process(code)) < 0.5


@pytest.mark.parametrize("name", sorted(SETUPTOOLS["packages"]))
def test_importing_a_package_loads_no_deep_learning_and_no_tracking(name: str) -> None:
    heavy = "torch transformers sentence_transformers wandb datasets".split()
    code = f"import sys, {name}; print(*(m for m in {heavy} if m in sys.modules))"
    assert in_new_process(code).split() == []
