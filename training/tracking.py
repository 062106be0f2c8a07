"""Tracking a run: its settings, metrics, tables and folders, in local files always, with W&B if asked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from ..data.errors import BackendUnavailableError
from ..data.storage import to_json, write_text
from .local_tracker import LocalTracker, Tracker, files_of

FOLDER = "tracking"
PROJECT = "evidencegym"
RUN = "wandb_run.json"

Kind = Literal["none", "wandb"]
Mode = Literal["offline", "online"]


class WandbTracker(Tracker):
    """A W&B run (extra ``wandb``), the same one for every command that works on a run folder.

    Its id stands in ``wandb_run.json`` and is resumed from there; the variables ``WANDB_*`` come before our defaults.
    The key of the account is W&B's own affair: it is neither read nor written here.

    Args:
        folder: where W&B keeps its files, unless ``WANDB_DIR`` names another.
        mode: offline or online; left out, ``WANDB_MODE``, else online under a sweep's agent, else offline.

    Raises:
        BackendUnavailableError: if the extra is not installed.
    """

    def __init__(self, folder: Path, mode: Mode | None = None) -> None:
        wandb = _wandb()
        folder.mkdir(parents=True, exist_ok=True)
        chosen = mode or os.environ.get("WANDB_MODE") or ("online" if os.environ.get("WANDB_SWEEP_ID") else "offline")
        self.id = os.environ.get("WANDB_RUN_ID") or _stored_id(folder / RUN) or uuid4().hex[:12]
        given = {"project": PROJECT, "dir": str(folder), "resume": "allow"}
        free = {name: value for name, value in given.items() if f"WANDB_{name.upper()}" not in os.environ}
        self._run = wandb.init(id=self.id, mode=chosen, settings=_quiet(wandb, chosen), **free)
        self._step: int | None = None
        write_text(folder / RUN, to_json({"id": self.id}))

    def config(self, settings: Mapping[str, Any]) -> None:
        self._run.config.update(dict(settings), allow_val_change=True)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._step = step
        self._run.log(dict(metrics), step=step)

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._run.log({name: _wandb().Table(columns=list(columns), data=[list(row) for row in rows])}, step=self._step)

    def artifact(self, name: str, folder: Path, kind: str) -> None:
        made = _wandb().Artifact(name, kind)
        for file in files_of(folder):
            made.add_file(str(folder / file), name=file.as_posix())
        self._run.log_artifact(made)

    def finish(self, failed: bool = False) -> None:
        self._run.finish(exit_code=int(failed))


class Trackers(Tracker):
    """Several trackers as one; one that fails is given up with a warning, so that no run dies of being tracked.

    Args:
        trackers: by name.
        step: number of the first :meth:`log` that names none.
        warn: told once of each tracker that fails.
    """

    def __init__(
        self, trackers: Mapping[str, Tracker], step: int = 0, warn: Callable[[str], None] | None = None
    ) -> None:
        self.trackers = dict(trackers)
        self._step = step
        self._warn = warn or _to_stderr

    def config(self, settings: Mapping[str, Any]) -> None:
        self._each(lambda tracker: tracker.config(settings))

    def log(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        now = self._step if step is None else step
        self._step = now + 1
        self._each(lambda tracker: tracker.log(metrics, now))

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        self._each(lambda tracker: tracker.table(name, columns, rows))

    def artifact(self, name: str, folder: Path, kind: str) -> None:
        self._each(lambda tracker: tracker.artifact(name, folder, kind))

    def finish(self, failed: bool = False) -> None:
        self._each(lambda tracker: tracker.finish(failed))

    def note(self, take: Callable[[Trackers], None]) -> None:
        """Note what ``take`` reads from a run folder; if it cannot be read, warn and go on."""
        try:
            take(self)
        except Exception as error:  # whatever it is, the run matters more
            self._warn(f"something could not be tracked ({_reason(error)})")

    def _each(self, act: Callable[[Tracker], None]) -> None:
        for name, tracker in list(self.trackers.items()):
            try:
                act(tracker)
            except Exception as error:  # whatever a service raises, the run matters more
                del self.trackers[name]
                self._warn(f"tracking with {name} failed ({_reason(error)}); the run goes on without it")


@contextmanager
def tracked(
    run: Path, kind: Kind = "none", mode: Mode | None = None, warn: Callable[[str], None] | None = None
) -> Iterator[Trackers]:
    """Track a run folder while the block runs, locally and, for ``kind`` "wandb", with W&B.

    Raises:
        BackendUnavailableError: if W&B is wanted and the extra is not installed.
    """
    if kind == "wandb":
        _wandb()
    tell = warn or _to_stderr
    trackers: dict[str, Tracker] = {}
    local = LocalTracker(run / FOLDER)
    step = 0
    try:
        step = local.next_step()
        trackers["local files"] = local
    except (OSError, ValueError, KeyError, TypeError) as error:
        tell(f"tracking with local files failed ({_reason(error)}); the run goes on without it")
    if kind == "wandb":
        try:
            trackers["W&B"] = WandbTracker(run / FOLDER, mode)
        except Exception as error:  # no account, no network, no disk: wandb raises what it likes
            tell(f"tracking with W&B failed ({_reason(error)}); the run goes on without it")
    together = Trackers(trackers, step, tell)
    try:
        yield together
    except BaseException:
        together.finish(failed=True)
        raise
    together.finish()


def _wandb() -> Any:
    try:
        from wandb import init  # noqa: F401  # a folder named wandb, which W&B makes, would import without it
    except ImportError as error:
        raise BackendUnavailableError(
            f"--tracking wandb needs the extra wandb ({error}): pip install 'evidencegym[wandb]'"
        ) from error
    import wandb

    return wandb


def _quiet(wandb: Any, mode: str) -> Any:
    """Return settings that keep code, console and machine out of the run, but where a variable says otherwise."""
    wanted = {
        "console": "off",
        "disable_git": True,
        "disable_code": True,
        "silent": mode != "online",
        "x_disable_stats": True,
        "x_disable_machine_info": True,
    }
    known = [name for name in wanted if name in wandb.Settings.model_fields]
    return wandb.Settings(**{name: wanted[name] for name in known if f"WANDB_{name.upper()}" not in os.environ})


def _stored_id(file: Path) -> str:
    return str(json.loads(file.read_text(encoding="utf-8"))["id"]) if file.exists() else ""


def _reason(error: BaseException) -> str:
    return str(error).split("\n", 1)[0] or type(error).__name__


def _to_stderr(message: str) -> None:
    print(f"evidencegym: {message}", file=sys.stderr)
