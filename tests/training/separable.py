"""Questions whose supporting passages are told from the others by one word."""

import numpy as np

from evidencegym.data.records import Gold, Passage, Question, Record

_FILLERS = "is the a built tower bridge river carl dora road long old".split()


def separable(count: int, seed: int) -> list[Record]:
    """Return questions with two supporting passages, which say "red", and three others, which say "blue"."""
    rng = np.random.default_rng(seed)
    return [_record(f"{seed}-{number}", rng) for number in range(count)]


def _record(name: str, rng: np.random.Generator) -> Record:
    context = tuple(_passage(word, rng) for word in ("red", "blue", "blue", "red", "blue"))
    support = tuple(passage.id for passage in context if "red" in passage.text.split())
    gold = Gold(name, ("x",), support_ids=support, match_support_by="id")
    question = " ".join(["who", *map(str, rng.choice(_FILLERS, 4))])
    return Record(Question.of(f"{question} {name}", context), gold, context)


def _passage(word: str, rng: np.random.Generator) -> Passage:
    told = [str(filler) for filler in rng.choice(_FILLERS, 8)]
    told[int(rng.integers(8))] = word
    return Passage.of(str(rng.choice(_FILLERS)), (" ".join(told),))
