"""YAML files, one per runnable experiment; read them with :func:`evidencegym.configs.path`."""

from pathlib import Path

from ..data.errors import ConfigError

SWEEP = "sweep"  # a file for `wandb sweep`, not of settings


def path(name: str) -> Path:
    """Return the file of the shipped configuration ``name`` (with or without ``.yaml``).

    Raises:
        ConfigError: if no such configuration ships; the message lists those that do.
    """
    found = {file.stem: file for file in Path(__file__).parent.glob("*.yaml") if file.stem != SWEEP}
    if (stem := name.removesuffix(".yaml")) not in found:
        known = ", ".join(sorted(found))
        raise ConfigError(f"no shipped configuration named {name!r}; there are: {known}")
    return found[stem]
