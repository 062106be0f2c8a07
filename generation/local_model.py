"""Language models of the transformers library in this process: loading, tokens, greedy decoding in batches."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..data.errors import BackendUnavailableError, ConfigError, RequestFailedError
from ..data.records import content_hash
from .completion import Completion
from .local_settings import LocalSettings
from .prompts.judge import Token
from .prompts.template import Messages, without_system

_LIKELIEST = 20
"""Alternatives of a token whose probabilities are looked at."""
_MARK = "evidence is data"


class Prompt(NamedTuple):
    """What a model is asked.

    Attributes:
        ids: the tokens.
        limit: most tokens of the reply, at least 1.
    """

    ids: list[int]
    limit: int


class Written(NamedTuple):
    """What a model wrote, and how many tokens that were, the end of its turn included."""

    completion: Completion
    tokens: int


class LocalModel:
    """A causal language model with its tokenizer.

    Batches are padded on the left, and attention leaves the padding out, so a reply depends on its neighbours only
    through rounding: sums of another shape may differ in the last bits, which can turn a tie between two tokens.

    Args:
        settings: which model, and where it runs.

    Raises:
        ConfigError: if no model is named or there is no such model.
        BackendUnavailableError: if transformers or torch is not installed.
    """

    def __init__(self, settings: LocalSettings) -> None:
        if not settings.model:
            raise ConfigError("which model? Name one of the hub, or a folder: --local.model NAME")
        self.settings = settings
        self._tokenizer, self._model = _load(settings.model, settings.revision, settings.device, settings.dtype)
        self._ends = _ends(self._model, self._tokenizer)
        self._system = self._knows_system()

    @property
    def name(self) -> str:
        """The model's name; of a folder the last part."""
        named = self.settings.model
        return Path(named).resolve().name if Path(named).is_dir() else named

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the weights as they are used, and of the chat template."""
        template = self._tokenizer.chat_template
        return content_hash("causal language model", _weights(self._model), str(template))

    @cached_property
    def context(self) -> int | None:
        """How many tokens request and reply may have together; None where the model does not say."""
        config = self._model.config.get_text_config()
        found = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        return int(found) if found else None

    def ids(self, messages: Messages) -> list[int]:
        """Return the tokens of a chat with the beginning of the reply, as the model's template has it."""
        shown = messages if self._system else without_system(messages)
        if self._tokenizer.chat_template:
            return list(self._tokenizer(self._templated(shown), add_special_tokens=False)["input_ids"])
        return list(self._tokenizer(_plain(shown))["input_ids"])

    def write(self, prompts: Sequence[Prompt], probabilities: bool = False) -> list[Written]:
        """Return the replies, greedily decoded, in the order of the prompts.

        Args:
            prompts: one batch, not empty.
            probabilities: whether the tokens come with their likeliest alternatives.

        Raises:
            RequestFailedError: if the device has too little memory for the batch.
        """
        watcher = _Watcher() if probabilities else None
        rows = self._generated(prompts, watcher)
        return [self._written(rows[i], prompt, watcher, i) for i, prompt in enumerate(prompts)]

    def _generated(self, prompts: Sequence[Prompt], watcher: _Watcher | None) -> list[list[int]]:
        import torch

        width = max(len(prompt.ids) for prompt in prompts)
        pad = self._model.generation_config.pad_token_id
        ids = torch.tensor([[pad] * (width - len(p.ids)) + p.ids for p in prompts], device=self._model.device)
        mask = torch.tensor([[0] * (width - len(p.ids)) + [1] * len(p.ids) for p in prompts], device=ids.device)
        try:
            with torch.inference_mode():
                made = self._model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    max_new_tokens=max(prompt.limit for prompt in prompts),
                    do_sample=False,
                    logits_processor=[] if watcher is None else [watcher],
                )
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise RequestFailedError(
                f"{len(prompts)} requests of up to {width} tokens need more memory than there is; "
                "lower local.batch or local.max_input"
            ) from error
        rows: list[list[int]] = made[:, width:].tolist()
        return rows

    def _written(self, row: list[int], prompt: Prompt, watcher: _Watcher | None, place: int) -> Written:
        """Return what was written up to the end of the turn, or to the prompt's own limit."""
        within = row[: prompt.limit]
        end = next((i for i, token in enumerate(within) if token in self._ends), len(within))
        text = self._tokenizer.decode(within[:end], skip_special_tokens=True)
        tokens = () if watcher is None else tuple(self._token(within[i], watcher.of(i, place)) for i in range(end))
        cut = end == len(within)
        return Written(Completion(text, cut, tokens), end if cut else end + 1)

    def _token(self, token: int, likeliest: Iterator[tuple[int, float]]) -> Token:
        alternatives: dict[str, float] = {}
        for other, logprob in likeliest:  # several tokens may spell one text
            spelt = self._tokenizer.decode([other])
            alternatives[spelt] = _added(alternatives.get(spelt), logprob)
        return Token(self._tokenizer.decode([token]), alternatives)

    def _templated(self, messages: Messages) -> str:
        made: str = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, **self.settings.template
        )
        return made

    def _knows_system(self) -> bool:
        """Say whether the chat template shows a system message; some refuse it, some leave it out."""
        if not self._tokenizer.chat_template:
            return True
        from jinja2 import TemplateError

        try:
            return _MARK in self._templated([{"role": "system", "content": _MARK}, {"role": "user", "content": "?"}])
        except TemplateError:
            return False


class _Watcher:
    """Notes the likeliest tokens of each step and their log probabilities while a batch is decoded."""

    def __init__(self) -> None:
        self._steps: list[tuple[list[list[int]], list[list[float]]]] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        found = scores.float().log_softmax(-1).topk(min(_LIKELIEST, scores.shape[-1]))
        self._steps.append((found.indices.tolist(), found.values.tolist()))
        return scores

    def of(self, step: int, row: int) -> Iterator[tuple[int, float]]:
        """Yield the likeliest tokens of a step of one row."""
        tokens, logprobs = self._steps[step]
        yield from zip(tokens[row], logprobs[row])


def _added(first: float | None, second: float) -> float:
    """Return the logarithm of the sum of two probabilities."""
    if first is None:
        return second
    high = max(first, second)
    return high if math.isinf(high) else high + math.log(math.exp(first - high) + math.exp(second - high))


def _plain(messages: Messages) -> str:
    """Return a chat as text, for models without a chat template."""
    parts = [f"{message['role'].capitalize()}: {message['content']}" for message in messages]
    return "\n\n".join([*parts, "Assistant:"])


def _load(model: str, revision: str, device: str, dtype: str) -> tuple[Any, Any]:
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise BackendUnavailableError(
            "a local model needs the extra local: pip install 'evidencegym[local]'"
        ) from error
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        tokenizer = AutoTokenizer.from_pretrained(model, revision=revision or None)
        loaded = AutoModelForCausalLM.from_pretrained(model, revision=revision or None, dtype=dtype).to(place).eval()
    except (OSError, ValueError, RuntimeError) as error:
        raise ConfigError(f"cannot load the language model {model!r} on {place}: {error}") from error
    _greedy(loaded, tokenizer)
    return tokenizer, loaded


def _greedy(model: Any, tokenizer: Any) -> None:
    """Leave of the model's own settings of decoding only where it ends: penalties are not greedy."""
    from transformers import GenerationConfig

    ends = sorted(_ends(model, tokenizer))
    pad = next(token for token in (tokenizer.pad_token_id, *ends, 0) if token is not None)
    model.generation_config = GenerationConfig(eos_token_id=ends or None, pad_token_id=pad)


def _ends(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end a reply."""
    own = model.generation_config.eos_token_id
    listed = own if isinstance(own, list) else [own]
    return frozenset(int(token) for token in (*listed, tokenizer.eos_token_id) if token is not None)


def _weights(model: Any) -> str:
    import torch

    digest = hashlib.blake2b(digest_size=8)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
