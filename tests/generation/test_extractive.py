"""The packaged generator through the protocol: what it answers, what it never does, and how it is kept."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evidencegym.data.answer_scores import token_f1
from evidencegym.data.errors import DataError, ManifestMismatchError
from evidencegym.data.records import Passage, Record
from evidencegym.data.storage import load_folder, save_folder
from evidencegym.data.support_scores import support_recall
from evidencegym.data.text import words
from evidencegym.data.world import World
from evidencegym.generation.examples import gold_passages
from evidencegym.generation.extractive import DEFAULT, KIND, ExtractiveGenerator
from evidencegym.generation.measure import auroc, judge_figures
from evidencegym.generation.tasks import AnswerTask, CompressTask, JudgeTask, RewriteTask, Snippet
from evidencegym.retrieval.bm25 import BM25Retriever

LEONE = Passage.of(
    "Marta Leone",
    [
        "Marta Leone (born 4 May 1931 in Bergamo) was an Italian film director.",
        "She directed nine films.",
        "Leone died in Genoa on 9 June 1999.",
    ],
)
FILM = Passage.of(
    "The Quiet Harbour", ["The Quiet Harbour is a 1968 drama film directed by Marta Leone.", "It won a prize."]
)
OTHER = Passage.of("The Loud Harbour", ["The Loud Harbour is a 1921 comedy film directed by Anton Brask."])
BRASK = Passage.of("Anton Brask", ["Anton Brask (12 July 1890 – 3 March 1950) was a Danish film director."])
QUESTION = "When was the director of the film The Quiet Harbour born?"
COMPARISON = "Which film came out first, The Quiet Harbour or The Loud Harbour?"


@pytest.fixture(scope="module")
def generator() -> ExtractiveGenerator:
    return ExtractiveGenerator.default()


@pytest.fixture(scope="module")
def world() -> World:
    return World(600, seed=71)


@pytest.fixture(scope="module")
def records(world: World) -> list[Record]:
    return [r for r in world.questions(80, "dev") if r.gold is not None and r.gold.answerable]


def test_a_span_is_read_from_the_linked_passage(generator: ExtractiveGenerator) -> None:
    answer = generator.answer([AnswerTask(QUESTION, (FILM, LEONE))])[0]
    assert answer.text == "4 May 1931"
    assert (LEONE.id, 0) in answer.support
    assert 0.0 < answer.confidence <= 1.0


def test_a_comparison_is_answered_by_dates_in_both_orders(generator: ExtractiveGenerator) -> None:
    turned = "Which film came out first, The Loud Harbour or The Quiet Harbour?"
    tasks = [AnswerTask(q, (FILM, OTHER)) for q in (COMPARISON, turned)]
    assert [a.text for a in generator.answer(tasks)] == ["The Loud Harbour"] * 2


def test_a_comparison_follows_the_link_to_the_person_behind_each_side(generator: ExtractiveGenerator) -> None:
    question = "Which film has the director who was born first, The Quiet Harbour or The Loud Harbour?"
    later = question.replace("first", "later")
    tasks = [AnswerTask(q, (FILM, OTHER, LEONE, BRASK)) for q in (question, later)]
    assert [a.text for a in generator.answer(tasks)] == ["The Loud Harbour", "The Quiet Harbour"]


def test_without_evidence_only_yes_no_or_a_side_is_guessed(generator: ExtractiveGenerator) -> None:
    asked = [QUESTION, COMPARISON, "Are both The Quiet Harbour and The Loud Harbour films?", ""]
    answers = [a.text for a in generator.answer([AnswerTask(q, ()) for q in asked])]
    assert answers[0] == "" and answers[3] == ""
    assert answers[1] in ("The Quiet Harbour", "The Loud Harbour")
    assert answers[2] in ("yes", "no")


def test_with_snippets_nothing_else_is_read(generator: ExtractiveGenerator) -> None:
    snippets = (Snippet(FILM.id, "x", 0), Snippet(LEONE.id, "y", 0))
    changed = Passage(
        LEONE.id, LEONE.title, (LEONE.sentences[0], "She was born on 1 January 1800.", "Born 2 May 1700.")
    )
    one, two = generator.answer([AnswerTask(QUESTION, (FILM, p), snippets) for p in (LEONE, changed)])
    assert one.text == two.text == "4 May 1931"
    assert one.confidence == two.confidence
    assert set(one.support) <= {(FILM.id, 0), (LEONE.id, 0)}


def test_a_snippet_that_is_no_sentence_is_read_too(generator: ExtractiveGenerator) -> None:
    loose = Snippet(LEONE.id, "Marta Leone (born 4 May 1931) was a film director.", None)
    answer = generator.answer([AnswerTask(QUESTION, (FILM, LEONE), (Snippet(FILM.id, "x", 0), loose))])[0]
    assert answer.text == "4 May 1931"
    assert all(i == FILM.id for i, _ in answer.support)


def test_usage_counts_words(generator: ExtractiveGenerator) -> None:
    assert generator.unit == "words"
    answer = generator.answer([AnswerTask(QUESTION, (FILM,))])[0]
    assert answer.usage.prompt_tokens == len(words(QUESTION)) + len(words(FILM.title)) + len(words(FILM.text))
    assert answer.usage.completion_tokens == len(words(answer.text))
    snippet = Snippet(FILM.id, "The Quiet Harbour: a film", 0)
    cut = generator.answer([AnswerTask(QUESTION, (FILM,), (snippet,))])[0]
    assert cut.usage.prompt_tokens == len(words(QUESTION)) + len(words(snippet.text))


def test_what_is_missing_is_named_in_words_to_search(generator: ExtractiveGenerator) -> None:
    short, none = generator.judge_sufficiency([JudgeTask(QUESTION, (FILM,)), JudgeTask(QUESTION, ())])
    assert not short.sufficient and "Marta Leone" in short.missing
    assert not none.sufficient and none.missing
    side = generator.judge_sufficiency([JudgeTask(COMPARISON, (FILM,))])[0]
    assert not side.sufficient and "The Loud Harbour" in side.missing


def test_verdict_and_missing_agree(generator: ExtractiveGenerator, records: list[Record]) -> None:
    tasks = [JudgeTask(r.question.text, r.context[:n]) for r in records for n in (0, 1, 4, 10)]
    for verdict in generator.judge_sufficiency(tasks):
        assert verdict.sufficient == (verdict.missing == "")
        assert 0.0 <= verdict.probability <= 1.0


def test_rewrites_never_repeat_and_end(generator: ExtractiveGenerator) -> None:
    queries: list[str] = [QUESTION]
    for _ in range(60):
        query = generator.rewrite([RewriteTask(QUESTION, (FILM, LEONE), tuple(queries))])[0].query
        if not query:
            break
        assert " ".join(words(query)) not in {" ".join(words(q)) for q in queries}
        queries.append(query)
    assert query == "" and len(queries) > 3


def test_compression_keeps_order_and_budgets(generator: ExtractiveGenerator, records: list[Record]) -> None:
    for record in records[:20]:
        task = CompressTask(record.question.text, record.context, 5, 60)
        kept = generator.compress([task])[0]
        places = [([p.id for p in record.context].index(s.passage_id), s.sentence) for s in kept.snippets]
        assert places == sorted(places) and len(set(places)) == len(places) <= 5
        assert kept.usage.completion_tokens == sum(len(words(s.text)) for s in kept.snippets) <= 60
        passages = {p.id: p for p in record.context}
        for s in kept.snippets:
            assert s.sentence is not None
            assert s.text == f"{passages[s.passage_id].title}: {passages[s.passage_id].sentences[s.sentence].strip()}"


def test_an_impossible_budget_keeps_nothing(generator: ExtractiveGenerator) -> None:
    assert generator.compress([CompressTask(QUESTION, (FILM,), 3, 1)])[0].snippets == ()
    assert generator.compress([CompressTask(QUESTION, (FILM,), 0, 100)])[0].snippets == ()


ODD = [
    Passage.of("", []),
    Passage.of("", ["", "  "]),
    Passage.of("()", ["( ( ) ) – – \" ' …"]),
    Passage.of("¿?", ["日本語 の 文。", "\ud800 surrogate"]),
    Passage.of("A" * 5000, ["B" * 20000, "(" * 3000, "12 " * 3000]),
]


@pytest.mark.parametrize("question", ["", "?", "or", "a or b?", "Which, A or B?", "日本", QUESTION])
def test_odd_input_is_answered(generator: ExtractiveGenerator, question: str) -> None:
    for passages in ((), tuple(ODD), (*ODD, FILM)):
        generator.answer([AnswerTask(question, passages)])
        verdict = generator.judge_sufficiency([JudgeTask(question, passages)])[0]
        assert verdict.sufficient or verdict.missing
        generator.rewrite([RewriteTask(question, passages, (question,))])
        generator.compress([CompressTask(question, passages)])


@pytest.mark.parametrize("word", ["Word", "or", "word,", "Between A and", '"quoted" (in', "12 May 1900"])
def test_a_question_of_10000_words_takes_bounded_time(generator: ExtractiveGenerator, word: str) -> None:
    question = " ".join([word] * 10_000) + "?"
    start = time.perf_counter()
    generator.answer([AnswerTask(question, (FILM, LEONE))])
    generator.judge_sufficiency([JudgeTask(question, (FILM, LEONE))])
    generator.rewrite([RewriteTask(question, (FILM, LEONE), (question,))])
    generator.compress([CompressTask(question, (FILM, LEONE))])
    assert time.perf_counter() - start < 5.0


def test_results_do_not_depend_on_the_batch(generator: ExtractiveGenerator, records: list[Record]) -> None:
    tasks = [AnswerTask(r.question.text, r.context) for r in records[:10]]
    assert generator.answer(tasks) == [generator.answer([t])[0] for t in tasks]
    assert generator.answer([]) == []


def test_it_reads_a_world_that_it_has_not_seen(
    generator: ExtractiveGenerator, world: World, records: list[Record]
) -> None:
    held = [(r.question.text, r.gold, gold_passages(r.gold, r.context)) for r in records if r.gold is not None]
    answers = generator.answer([AnswerTask(q, p) for q, _, p in held])
    f1 = np.mean([token_f1(a.text, g.answers) for a, (_, g, _) in zip(answers, held, strict=True)])
    assert f1 > 0.6
    retriever = BM25Retriever.build(world.passages())
    bodies = [(r.question.text, r.gold, r.context) for r in records if r.gold is not None]
    figures = judge_figures(generator, bodies, retriever)
    assert figures["judge_auroc"] > 0.85
    assert figures["missing_search"] > 0.4 > figures["question_search"]


def test_a_saved_copy_is_equal(generator: ExtractiveGenerator, tmp_path: Path) -> None:
    generator.save(tmp_path / "a")
    copy = ExtractiveGenerator.load(tmp_path / "a")
    copy.save(tmp_path / "b")
    assert copy.fingerprint == generator.fingerprint
    for name in ("arrays.npz", "manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    task = AnswerTask(QUESTION, (FILM, LEONE))
    assert copy.answer([task]) == generator.answer([task])


def test_the_packaged_files_are_small_and_described_by_their_manifest(generator: ExtractiveGenerator) -> None:
    arrays, manifest = load_folder(DEFAULT, KIND)
    assert manifest["fingerprint"] == generator.fingerprint
    assert sum(f.stat().st_size for f in DEFAULT.iterdir()) < 1_500_000
    assert all(a.dtype.kind in "fiu" for a in arrays.values())


def test_other_numbers_have_another_fingerprint(generator: ExtractiveGenerator) -> None:
    weights = generator.model.choice.copy()
    weights[0] += 1
    assert ExtractiveGenerator(replace(generator.model, choice=weights)).fingerprint != generator.fingerprint


@pytest.mark.parametrize("damage", ["missing", "short", "tree"])
def test_damaged_arrays_are_refused(generator: ExtractiveGenerator, tmp_path: Path, damage: str) -> None:
    arrays = generator.model.arrays()
    if damage == "missing":
        del arrays["idf"]
    elif damage == "short":
        arrays["choice"] = arrays["choice"][:-1]
    else:
        arrays["span.scalars"] = arrays["span.scalars"] + [0, 0, 1]
    save_folder(tmp_path / "g", arrays, {"kind": KIND})
    with pytest.raises(ManifestMismatchError, match="fit it again"):
        ExtractiveGenerator.load(tmp_path / "g")


def test_an_absent_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        ExtractiveGenerator.load(tmp_path / "nowhere")


def test_auroc_counts_ordered_pairs() -> None:
    labels = np.array([True, False, True, False])
    assert auroc(np.array([0.9, 0.1, 0.4, 0.5]), labels) == 0.75
    assert auroc(np.array([0.5, 0.5, 0.5, 0.5]), labels) == 0.5
    assert np.isnan(auroc(np.array([0.5]), np.array([True])))


def test_sufficient_bodies_are_judged_likelier(generator: ExtractiveGenerator, records: list[Record]) -> None:
    full = [JudgeTask(r.question.text, r.context) for r in records]
    cut = [
        JudgeTask(r.question.text, tuple(p for p in r.context if r.gold is not None and p.id != r.gold.support_ids[-1]))
        for r in records
    ]
    assert all(support_recall(r.gold, r.context) == 1.0 for r in records if r.gold is not None)
    likely, unlikely = (np.mean([v.probability for v in generator.judge_sufficiency(t)]) for t in (full, cut))
    assert likely > unlikely + 0.2
