"""The episode browser's controls; its script fills them."""

from __future__ import annotations

_ANY = ("", "any")
_CHOICES: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    ("data", "Data set", ()),
    ("protocol", "Protocol", ()),
    ("method", "Method", ()),
    ("type", "Type", (_ANY,)),
    ("hops", "Hops", (_ANY,)),
    ("support", "Support", (_ANY, ("all", "all found"), ("some", "not all found"), ("none", "none found"))),
    ("f1", "Answer F1", (_ANY, ("right", "1"), ("partly", "between 0 and 1"), ("wrong", "0"))),
    ("operation", "Runs operation", (_ANY,)),
    ("end", "Ended by", (_ANY,)),
    ("failed", "Failures", (_ANY, ("yes", "an operation failed"))),
    (
        "order",
        "Order",
        (
            ("", "as evaluated"),
            ("recall", "least support first"),
            ("f1", "lowest F1 first"),
            ("tokens", "most tokens first"),
            ("steps", "most steps first"),
        ),
    ),
)


def browser() -> str:
    """Return the section of the episode browser."""
    choices = "".join(_choice(*choice) for choice in _CHOICES)
    search = (
        '<label class="wide">Search in the question'
        '<input id="choose-search" type="search" autocomplete="off" spellcheck="false"></label>'
    )
    pages = (
        '<div class="pages"><button type="button" id="previous">Previous</button><span id="page"></span>'
        '<button type="button" id="next">Next</button></div>'
    )
    return (
        '<section id="episodes" class="browser-section"><h2>Episodes</h2>'
        '<p class="asks">What could run at each step, what it was worth to the controller, what ran, '
        "and what came back.</p><noscript><p>The episodes need JavaScript.</p></noscript>"
        f'<div class="choices">{choices}{search}</div><p id="status" role="status"></p>'
        f'<div class="browser"><div><ol id="list" class="list"></ol>{pages}</div>'
        '<article id="episode" class="episode" aria-labelledby="episode-title" hidden></article></div></section>\n'
    )


def _choice(name: str, label: str, options: tuple[tuple[str, str], ...]) -> str:
    inside = "".join(f'<option value="{value}">{text}</option>' for value, text in options)
    return f'<label>{label}<select id="choose-{name}">{inside}</select></label>'
