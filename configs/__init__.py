"""YAML files, one per runnable experiment; read them with :func:`evidencegym.configs.path`."""

from pathlib import Path

from ..data.errors import ConfigError


def path(name: str) -> Path:
    """Return the file of the shipped configuration ``name`` (with or without ``.yaml``).

    Raises:
        ConfigError: if no such configuration ships; the message lists those that do.
    """
    folder = Path(__file__).parent
    file = folder / f"{name.removesuffix('.yaml')}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(f.stem for f in folder.glob("*.yaml")))
        raise ConfigError(f"no shipped configuration named {name!r}; there are: {known}")
    return file
