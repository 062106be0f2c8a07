"""A hand-made corpus of thirty passages in chains (film, director, town, river, mountains), with eight questions."""

from dataclasses import replace
from functools import lru_cache

from evidencegym.actions.engine import Engine
from evidencegym.data.records import Gold, Passage, Question, Record
from evidencegym.generation.base import Generator
from evidencegym.ranking.base import Ranker
from evidencegym.retrieval.bm25 import BM25Retriever
from evidencegym.retrieval.external import LocalSource
from tests.fakes import OverlapGenerator
from tests.judges import OverlapEvaluator

_TEXTS = (
    ("The Amber Gate", "The Amber Gate is a 1961 drama film.", "It was directed by Ilona Varga."),
    ("Northern Lamp", "Northern Lamp is a 1974 adventure film.", "It was directed by Tomas Brandt."),
    ("The Glass Harbour", "The Glass Harbour is a 1980 film about a port.", "Petra Lindqvist directed the film."),
    ("Silent Orchard", "Silent Orchard is a 1958 comedy film.", "Its director was Samuel Okoro."),
    ("The Amber Gate (novel)", "The Amber Gate is a novel of 1931 by Oskar Lind.", "It tells of a city wall."),
    ("Northern Lamp Company", "The Northern Lamp Company made lamps in the north.", "It closed in 1922."),
    ("Ilona Varga", "Ilona Varga was a film director.", "She was born in Kelmar."),
    ("Ilona Varga (swimmer)", "Ilona Varga is a swimmer.", "She trained at the baths of Dornwick."),
    ("Tomas Brandt", "Tomas Brandt is a maker of films.", "He grew up in his birthplace, Velby."),
    ("Petra Lindqvist", "Petra Lindqvist studied painting before cinema.", "She was born in Dornwick."),
    ("Samuel Okoro", "Samuel Okoro began as an actor.", "He was born in Dornwick in 1920."),
    ("Oskar Lind", "Oskar Lind wrote novels and plays.", "He lived in Falsund for forty years."),
    ("Kelmar", "Kelmar is a market town on the Ostra.", "Its fair takes place in May."),
    ("Velby", "Velby is a small town on the Tarn.", "It has a wooden bridge."),
    ("Dornwick", "Dornwick is a town that was founded by Queen Edda.", "Its baths are old."),
    ("Falsund", "Falsund is a fishing port.", "Its church was built in 1780."),
    ("Ostra", "The Ostra is a river of 212 kilometres.", "It rises in the Hald Mountains."),
    ("Tarn", "The Tarn is a river known for salmon.", "It rises in the Corrin Range."),
    ("Hald Mountains", "The Hald Mountains are of limestone.", "Their highest peak is Mount Ister."),
    ("Corrin Range", "The Corrin Range is of granite.", "Its highest peak is Mount Brae."),
    ("Mount Ister", "Mount Ister is 2410 metres high.", "It was first climbed by Jon Sand."),
    ("Mount Brae", "Mount Brae is 1987 metres high.", "It was first climbed by Ada Crewe."),
    ("Queen Edda", "Queen Edda ruled for thirty years.", "Her consort was Prince Orm."),
    ("Prince Orm", "Prince Orm was a patron of music.", "He is buried in Falsund."),
    ("Jon Sand", "Jon Sand was a climber and a doctor.", ""),
    ("Ada Crewe", "Ada Crewe was a climber and a botanist.", "A fern is named after her."),
    ("Amber", "Amber is a resin of old trees.", "A gate of amber is told of in tales."),
    ("Harbour", "A harbour shelters ships.", "The harbour of Falsund is made of glass-like stone."),
    ("Director", "A film director leads the making of a film.", "The director of a film was once called its producer."),
    ("Birthplace", "A birthplace is the place where a person was born.", "Many towns mark it with a plaque."),
)


@lru_cache(maxsize=1)
def passages() -> dict[str, Passage]:
    """Return the passages by title."""
    return {title: Passage.of(title, sentences) for title, *sentences in _TEXTS}


def _record(number: int, text: str, answers: tuple[str, ...], support: tuple[str, ...], kind: str) -> Record:
    ids = tuple(passages()[title].id for title in support)
    gold = Gold(
        id=f"{len(support)}hop__{number}",
        answers=answers,
        support_titles=support,
        support_ids=ids,
        match_support_by="id",
        type=kind,
        level="hard",
        hops=len(support),
        answerable=bool(answers),
    )
    return Record(Question.of(text), gold)


@lru_cache(maxsize=1)
def records() -> list[Record]:
    """Return the questions with their gold; the first matches support by title, the last has no answer."""
    amber, lamp = "The Amber Gate", "Northern Lamp"
    made = [
        _record(1, "Where was the director of The Amber Gate born?", ("Kelmar",), (amber, "Ilona Varga"), "bridge"),
        _record(2, "Where was the director of Northern Lamp born?", ("Velby",), (lamp, "Tomas Brandt"), "bridge"),
        _record(
            3,
            "On which river lies the town where the director of The Amber Gate was born?",
            ("Ostra", "the Ostra"),
            (amber, "Ilona Varga", "Kelmar"),
            "compositional",
        ),
        _record(
            4,
            "In which mountains rises the river of the birthplace of the director of Northern Lamp?",
            ("Corrin Range",),
            (lamp, "Tomas Brandt", "Velby", "Tarn"),
            "compositional",
        ),
        _record(
            5,
            "Which film is older, The Amber Gate or Silent Orchard?",
            ("Silent Orchard",),
            (amber, "Silent Orchard"),
            "comparison",
        ),
        _record(
            6,
            "Were Petra Lindqvist and Samuel Okoro born in the same town?",
            ("yes",),
            ("Petra Lindqvist", "Samuel Okoro"),
            "comparison",
        ),
        _record(
            7,
            "Who founded the town in which the director of The Glass Harbour was born?",
            ("Queen Edda",),
            ("The Glass Harbour", "Petra Lindqvist", "Dornwick"),
            "compositional",
        ),
        _record(8, "Who first climbed the highest peak near Falsund?", (), ("Falsund",), "unanswerable"),
    ]
    by_title = made[0].gold
    if by_title is None:
        raise ValueError("every question of the small world has gold")
    return [replace(made[0], gold=replace(by_title, match_support_by="title", support_ids=())), *made[1:]]


@lru_cache(maxsize=1)
def retriever() -> BM25Retriever:
    """Return BM25 over the passages."""
    return BM25Retriever.build(passages().values())


_OUTSIDE = (
    ("Ilona Varga in Kelmar", "Ilona Varga, director of The Amber Gate, was born in Kelmar.", "She left it early."),
    ("Velby in Film", "The director of Northern Lamp, Tomas Brandt, was born in Velby.", "The town has a cinema."),
    ("Mount Ister and Falsund", "The highest peak near Falsund is Mount Ister.", "Jon Sand climbed it first."),
    ("Okoro's Orchard", "Silent Orchard is older than The Amber Gate.", "Both films were shown in Dornwick."),
    ("Births in Dornwick", "Petra Lindqvist and Samuel Okoro were born in the same town.", "It is Dornwick."),
    ("Harbour Film Notes", "The Glass Harbour was directed by Petra Lindqvist of Dornwick.", ""),
)


@lru_cache(maxsize=1)
def outside() -> LocalSource:
    """Return a second corpus, of passages that the first one does not hold."""
    return LocalSource(BM25Retriever.build(Passage.of(title, sentences) for title, *sentences in _OUTSIDE))


def engine(generator: Generator | None = None, cache_size: int = 20_000) -> Engine:
    """Return an engine over the small corpus with the rule-based generator, or another one."""
    return Engine(retriever(), generator or OverlapGenerator(), cache_size)


def gated_engine(cache_size: int = 20_000, ranker: Ranker | None = None) -> Engine:
    """Return an engine that can also judge, and search elsewhere."""
    return Engine(retriever(), OverlapGenerator(), cache_size, ranker, OverlapEvaluator(), outside())
