"""Training CRAG's evaluator: a T5 with one output, fitted by regression on -1 and +1 (extra ``local``).

Source: CRAG (2401.15884), section 4.2, and its ``train_evaluator.py``. Deviations: 1. inputs are padded to the longest
of their batch, not to 512 tokens; 2. the questions' own contexts are labelled from gold, PopQA's titles being one case
of it; 3. a title comes before a passage's text unless ``title_separator`` is empty.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..confidence.manifests import KIND
from ..confidence.sequence_classifier import load, padded
from ..confidence.t5 import TYPE, check, encode, joined
from ..confidence.transformer_settings import HERE
from ..data.errors import DataError, EvidenceGymError, ManifestMismatchError
from ..data.folders import writing
from ..data.manifests import MANIFEST, read_manifest, to_json
from ..data.records import Record, content_hash
from .evaluator_pairs import Pair, pairs_hash, support_pairs
from .evaluator_t5_settings import T5TrainSettings
from .questions import questions_hash

__all__ = ["T5TrainSettings", "T5Training", "train_t5"]

_CLIP_NORM = 1.0
_STATE = "state.pt"


class T5Training(NamedTuple):
    """What was trained.

    Attributes:
        folder: the evaluator's folder.
        pairs: how many pairs it was trained on.
        relevant: how many of them were supporting passages.
        losses: mean squared error of each epoch.
    """

    folder: Path
    pairs: int
    relevant: int
    losses: tuple[float, ...]


def train_t5(
    records: Sequence[Record],
    out: Path,
    settings: T5TrainSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> T5Training:
    """Train an evaluator and save it, without thresholds, in a folder that ``load_evaluator`` reads.

    After each epoch weights and optimiser are kept in a neighbour of ``out``, ``NAME.training``, and the same call goes
    on from there; with the same seed, device and number of threads the CPU gives the same weights, interrupted or not.
    The neighbour is deleted in the end. A folder that holds the result of the same call is left as it is.

    Args:
        records: training questions with gold and their contexts; see :func:`support_pairs`.
        out: folder to write; an evaluator that is there is replaced.
        settings: see :class:`T5TrainSettings`.
        progress: called with (steps done, steps in all).

    Raises:
        ConfigError: if the questions hold nothing to learn from, there is no such model, or ``out`` holds something
            else.
        BackendUnavailableError: if the extra local is not installed.
        ManifestMismatchError: if the neighbour holds a training of other questions or settings.
        DataError: if a folder cannot be written, or the neighbour is damaged.
    """
    chosen = settings or T5TrainSettings()
    pairs = support_pairs(records, chosen.negatives, chosen.seed)
    told = {name: value for name, value in asdict(chosen).items() if name != "device"}
    identity = content_hash("t5 training", json.dumps(told, sort_keys=True), pairs_hash(pairs))
    relevant = sum(pair.label > 0 for pair in pairs)
    losses = _finished(out, identity)
    if losses is None:
        trainer = _Trainer(pairs, chosen, out.with_name(f"{out.name}.training"), identity)
        losses = trainer.train(progress)
        trained = {"recipe": "CRAG", "id": identity, "questions": questions_hash(records)} | told
        trained |= {"pairs": len(pairs), "relevant": relevant, "losses": losses}
        trainer.save(out, trained)
    return T5Training(out, len(pairs), relevant, tuple(losses))


def _finished(out: Path, identity: str) -> list[float] | None:
    """Return the losses of this training if its result is there."""
    try:
        trained = read_manifest(out, KIND).get("trained")
    except EvidenceGymError:
        return None
    return list(trained["losses"]) if isinstance(trained, dict) and trained.get("id") == identity else None


class _Trainer:
    """A model on its way, with its optimiser and the folder that keeps both between epochs."""

    def __init__(self, pairs: Sequence[Pair], settings: T5TrainSettings, folder: Path, identity: str) -> None:
        self.pairs = pairs
        self.settings = settings
        self.folder = folder
        self.identity = identity
        self.losses: list[float] = []
        self.tokenizer, self.model = _start(settings)
        self.optimizer = _optimizer(self.model, settings.learning_rate)
        self.steps = -(-len(pairs) // settings.batch_size)
        self._resume()

    def train(self, progress: Callable[[int, int], None] | None) -> list[float]:
        """Run the epochs that are left, and return the loss of each of all."""
        while len(self.losses) < self.settings.epochs:
            self.losses.append(self._epoch(len(self.losses), progress))
            self._keep()
        return self.losses

    def save(self, out: Path, trained: dict[str, Any]) -> None:
        """Write the evaluator and delete what was kept on the way."""
        settings = self.settings.transformer(HERE).source()
        manifest = {"kind": KIND, "type": TYPE, "settings": settings, "thresholds": None, "trained": trained}
        with writing(out, KIND) as new:
            self.model.eval().save_pretrained(new)
            self.tokenizer.save_pretrained(new)
            (new / MANIFEST).write_text(to_json(manifest), encoding="utf-8")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _epoch(self, number: int, progress: Callable[[int, int], None] | None) -> float:
        _seed(self.settings.seed, number + 1)
        order = np.random.default_rng([self.settings.seed, number]).permutation(len(self.pairs))
        size, done, total = self.settings.batch_size, number * self.steps, self.settings.epochs * self.steps
        self.model.train()
        squares = 0.0
        for step in range(self.steps):
            places = order[step * size : (step + 1) * size]
            rate = self.settings.learning_rate * (1 - (done + step) / total)
            squares += self._step([self.pairs[place] for place in places], rate) * len(places)
            if progress is not None:
                progress(done + step + 1, total)
        return squares / len(self.pairs)

    def _step(self, pairs: Sequence[Pair], rate: float) -> float:
        import torch

        batch = {
            name: rows.to(self.model.device) for name, rows in padded(self.tokenizer, self._encoded(pairs)).items()
        }
        labels = torch.tensor([pair.label for pair in pairs], device=self.model.device)
        loss = torch.nn.functional.mse_loss(self.model(**batch).logits.reshape(-1), labels)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), _CLIP_NORM)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        return float(loss.item())

    def _encoded(self, pairs: Sequence[Pair]) -> list[Any]:
        shown = self.settings.transformer()
        texts = [joined(" ".join(pair.question.split()), shown.shown(pair.passage), shown) for pair in pairs]
        return [encode(self.tokenizer, text, self.settings.max_length) for text in texts]

    def _keep(self) -> None:
        """Write what the next epoch needs, whole or not at all."""
        import torch

        state = {"id": self.identity, "losses": self.losses}
        state |= {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        temporary = self.folder / f".{_STATE}.tmp"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with temporary.open("wb") as written:
                torch.save(state, written)
                written.flush()
                os.fsync(written.fileno())
            temporary.replace(self.folder / _STATE)
        except (OSError, RuntimeError) as error:
            raise DataError(f"cannot write ({error}); the last epoch's state is unchanged", self.folder) from error

    def _resume(self) -> None:
        import torch

        file = self.folder / _STATE
        if not file.exists():
            return
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)  # runs no code of the file
        except Exception as error:  # torch raises of everything for a damaged file
            raise DataError(f"damaged state of a training ({error}); delete it to begin anew", file) from error
        if state.get("id") != self.identity:
            raise ManifestMismatchError(
                f"{self.folder} holds a training of other questions or settings: repeat its call, choose another "
                "folder, or delete it"
            )
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.losses = list(state["losses"])


def _start(settings: T5TrainSettings) -> tuple[Any, Any]:
    """Return tokenizer and model; what the model lacks is drawn by the seed."""
    named = settings.transformer()
    _seed(settings.seed, 0)
    tokenizer, model = load(named, untrained=True)
    check(tokenizer, model, settings.model)
    return tokenizer, model


def _optimizer(model: Any, rate: float) -> Any:
    from torch.optim import AdamW

    return AdamW(model.parameters(), lr=rate)


def _seed(seed: int, stage: int) -> None:
    """Seed torch for a stage of the training, so that an epoch does not depend on where the run began."""
    try:
        import torch
    except ImportError:
        return  # loading the model says what is missing
    torch.manual_seed(int(np.random.SeedSequence([seed, stage]).generate_state(1)[0]))
