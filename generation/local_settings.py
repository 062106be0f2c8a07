"""Which language model runs in this process, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ..data.errors import ConfigError
from .prompts.by_task import PROMPT_NAMES

_WHERE_ONLY = ("batch", "device")
"""Settings that say how fast it goes, and are left out of the fingerprint."""


@dataclass(frozen=True)
class LocalSettings:
    """A causal language model of the transformers library, in this process.

    Attributes:
        model: its name on the hub, or a folder.
        revision: branch, tag or commit on the hub; empty for its main branch.
        device: as torch names it; empty for a GPU where there is one.
        dtype: type of the weights; auto takes that of the file.
        batch: requests in one forward pass, at least 1.
        max_input: tokens of a request at most, at least 64; longer ones lose passages, the last first. Never more than
            the model's context less the room for the reply.
        max_tokens: completion tokens at most, by answer, judge, rewrite, compress; left out, what the prompt needs.
        probabilities: the probability of the verdict's token is that of sufficiency; without, it is 0 or 1.
        template: further arguments of the model's chat template, such as {"enable_thinking": false}.

    Raises:
        ConfigError: if a value is out of range.
    """

    model: str = ""
    revision: str = ""
    device: str = ""
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    batch: int = 8
    max_input: int = 8192
    max_tokens: dict[str, int] = field(default_factory=dict)
    probabilities: bool = True
    template: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.batch < 1 or self.max_input < 64:
            raise ConfigError(
                f"local.batch must be at least 1 and local.max_input at least 64, found {self.batch}, {self.max_input}"
            )
        if unknown := sorted(set(self.max_tokens) - set(PROMPT_NAMES)):
            raise ConfigError(f"local.max_tokens has the keys {', '.join(PROMPT_NAMES)}, found {', '.join(unknown)}")
        if any(limit < 1 for limit in self.max_tokens.values()):
            raise ConfigError(f"local.max_tokens must be at least 1 each, found {self.max_tokens}")

    def decoding(self) -> dict[str, Any]:
        """Return what changes a reply beside the model itself, which is known by its weights."""
        return {name: value for name, value in asdict(self).items() if name not in ("model", "revision", *_WHERE_ONLY)}

    def source(self) -> dict[str, Any]:
        """Return the settings as plain values, for a manifest."""
        return asdict(self)

    @classmethod
    def of(cls, source: Mapping[str, Any] | None) -> LocalSettings:
        """Return the settings that a manifest holds, the defaults where it holds none.

        Raises:
            ConfigError: if it holds something else.
        """
        try:
            return cls(**(source or {}))
        except TypeError as error:
            raise ConfigError(f"the manifest names no local model that can be used ({error})") from error
