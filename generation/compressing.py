"""Compression: the sentences that support each other, within a budget of words."""

from __future__ import annotations

from ..data.text import words
from .answering import words_of
from .evidence import Evidence
from .model import Model, probability
from .question import read_question
from .tasks import Compression, CompressTask, Snippet, Usage

_LEAST = 0.02
_ALWAYS = 3


def compress_one(model: Model, task: CompressTask) -> Compression:
    """Keep the best sentences by the sentence model, whose features hold their links, in order of the passages."""
    evidence = Evidence(read_question(task.question), task.passages, model.idf)
    likely = probability(model.sentence.predict(evidence.features))
    sentences = [k for k, (_, s) in enumerate(evidence.rows) if s.index >= 0]
    kept: dict[int, Snippet] = {}
    left = task.max_tokens
    for rank, k in enumerate(sorted(sentences, key=lambda k: (-likely[k], k))):
        if len(kept) >= task.max_snippets or (rank >= _ALWAYS and likely[k] < _LEAST):
            break
        snippet = _snippet(evidence, k, task)
        cost = len(words(snippet.text))
        if cost <= left:
            kept[k] = snippet
            left -= cost
    snippets = tuple(kept[k] for k in sorted(kept))
    read = len(words(task.question)) + words_of(task.passages)
    return Compression(snippets, Usage(read, sum(len(words(s.text)) for s in snippets)))


def _snippet(evidence: Evidence, k: int, task: CompressTask) -> Snippet:
    p, sentence = evidence.rows[k]
    passage = task.passages[p]
    title = passage.title.strip()
    text = passage.sentences[sentence.index].strip()
    return Snippet(passage.id, f"{title}: {text}" if title else text, sentence.index)
