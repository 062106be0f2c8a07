"""What a kind's wording consists of, and the lists of words that fill its sentences."""

from __future__ import annotations

from typing import NamedTuple


class Wording(NamedTuple):
    """The templates for one kind of entity: first sentences, facts, aliases, sentences of no consequence, lists."""

    openings: tuple[str, ...]
    sentences: tuple[str, ...]
    aliases: tuple[str, ...]
    fillers: tuple[str, ...]
    lists: tuple[str, ...] = ()


def _list(phrases: str) -> tuple[str, ...]:
    return tuple(phrases.split(", "))


WORDBOOK: dict[str, tuple[str, ...]] = {
    "crowd": _list(
        "retired sailors, beekeepers, travelling printers, glass cutters, schoolteachers, amateur "
        "astronomers, river pilots, clockmakers, weavers, salt traders, railway workers, bell ringers, market "
        "gardeners, puppeteers, postal clerks"
    ),
    "few": _list("three, four, five, six, seven, eight, nine, eleven, twelve, fourteen"),
    "genre": _list(
        "drama, comedy, mystery, war, detective, satirical, fantasy, family, crime, gothic, pastoral, "
        "psychological, romantic"
    ),
    "landscape": _list(
        "mountainous, windy, densely wooded, coastal, sparsely settled, fertile, marshy, sunny, rocky, hilly, "
        "remote, green"
    ),
    "mood": _list(
        "quiet, stubborn, playful, solemn, cautious, restless, generous, severe, dreamy, cheerful, "
        "melancholy, plain, bookish, daring, modest, peculiar"
    ),
    "occasion": _list(
        "wedding, regatta, funeral, chess tournament, lecture, railway station, masked ball, harvest dance"
    ),
    "ordinal": _list("second, third, fourth, fifth, sixth, seventh"),
    "persuasion": _list("realist, romantic, modern, classical, northern, experimental, popular"),
    "position": _list("goalkeeper, left back, sweeper, winger, striker, half-back"),
    "quality": _list("patient, elegant, controversial, meticulous, pioneering, uneven, graceful, provocative"),
    "resort": _list("spa, seaside inn, sanatorium, hunting lodge, mountain hut, vineyard, monastery"),
    "shop": _list(
        "bakery, printing shop, tannery, watchmaker's shop, brewery, mill, pharmacy, shipyard, bookshop, "
        "brickworks, library"
    ),
    "sights": _list(
        "vineyards, canals, limestone cliffs, stone bridges, orchards, lighthouses, hot springs, ruined "
        "forts, birch woods, covered markets, windmills, slate quarries, terraces, caves"
    ),
    "style": _list("folk, jazz, chamber pop, choral, blues, electronic, brass, swing, piano, dance"),
    "subject": _list(
        "law, botany, philology, medicine, geology, mathematics, theology, history, chemistry, astronomy, "
        "economics, music"
    ),
    "things": _list(
        "lamp oil, dried flowers, old maps, carved whistles, glass beads, pocket watches, pressed ferns, tin "
        "soldiers, copper kettles, woollen hats, salted fish, wild honey, fishing nets, porcelain dolls, sea "
        "shells, iron keys, candle wax"
    ),
}
"""Lists of words by the name that stands in the braces of a template."""

ROLE_WORDS = {
    "director": "a film director",
    "writer": "a writer",
    "musician": "a musician",
    "actor": "an actor",
    "scientist": "a scientist",
    "entrepreneur": "an entrepreneur",
    "politician": "a politician",
    "footballer": "a footballer",
}

OEUVRE_WORDS = {"director": "films", "writer": "books", "musician": "records", "entrepreneur": "ventures"}

TRADE_WORDS = {"film": "film production", "book": "publishing", "record": "recording", "goods": "manufacturing"}
