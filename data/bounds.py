"""Lower bounds of settings."""

from __future__ import annotations

from .errors import ConfigError


def require_least(settings: object, section: str, **least: int) -> None:
    """Check that attributes of some settings reach their lower bounds.

    Args:
        settings: what holds them.
        section: what the command line calls it.
        least: the lower bound of each attribute, by name.

    Raises:
        ConfigError: if one is below; the first in the order given is named.
    """
    for name, bound in least.items():
        if getattr(settings, name) < bound:
            raise ConfigError(f"{section}.{name} must be at least {bound}, found {getattr(settings, name)}")
