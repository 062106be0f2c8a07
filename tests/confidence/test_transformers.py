"""The transformer evaluators on tiny models with random weights."""

import importlib.util
import math
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evidencegym.confidence.base import EvaluateTask
from evidencegym.confidence.cross_encoder import CrossEncoderEvaluator
from evidencegym.confidence.files import load_evaluator, save_thresholds
from evidencegym.confidence.sequence_classifier import SequenceClassifier
from evidencegym.confidence.t5 import T5Evaluator
from evidencegym.confidence.transformer import TransformerEvaluator
from evidencegym.confidence.transformer_files import save_transformer
from evidencegym.confidence.transformer_settings import TransformerSettings
from evidencegym.confidence.verdicts import Thresholds
from evidencegym.data.errors import BackendUnavailableError, ConfigError, RequestFailedError
from evidencegym.data.records import Passage
from evidencegym.retrieval.bm25 import BM25Retriever
from tests.confidence.classifiers import tiny_cross_encoder, tiny_t5

pytest.importorskip("transformers", reason="needs the extra local")
torch = pytest.importorskip("torch", reason="needs the extra local")
pytestmark = pytest.mark.filterwarnings("ignore")

Make = Callable[..., TransformerEvaluator]
QUESTION = "who built the bridge"
TEXTS = ("anna built the bridge", "carl", "the long road is old and red", "", "river " * 30)
PASSAGES = tuple(Passage.of("bridge", (text,)) for text in TEXTS)


def task(passages: Sequence[Passage] = PASSAGES, question: str = QUESTION) -> EvaluateTask:
    return EvaluateTask(question, "key", tuple(passages))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[type[TransformerEvaluator], Path]:
    folder = tmp_path_factory.mktemp("models")
    return {T5Evaluator: tiny_t5(folder / "t5"), CrossEncoderEvaluator: tiny_cross_encoder(folder / "cross")}


@pytest.fixture(params=[T5Evaluator, CrossEncoderEvaluator], ids=["t5", "cross_encoder"])
def make(request: pytest.FixtureRequest, folders: dict[type[TransformerEvaluator], Path]) -> Make:
    def made(thresholds: Thresholds | None = None, **settings: Any) -> TransformerEvaluator:
        named = TransformerSettings(str(folders[request.param]), **{"device": "cpu", "batch_size": 2, **settings})
        evaluator: TransformerEvaluator = request.param.from_settings(named, thresholds)
        return evaluator

    return made


def test_scores_lie_between_the_ends_and_tell_texts_apart(make: Make) -> None:
    [scores] = make().score([task()])
    assert len(scores) == len(TEXTS) and all(-1 <= score <= 1 for score in scores)
    assert len({round(score, 6) for score in scores}) == len(TEXTS)


def test_a_text_without_words_scores_lowest_and_is_not_asked_about(make: Make) -> None:
    evaluator = make()
    assert evaluator.score([task(PASSAGES[3:4])]) == [(-1.0,)]
    assert evaluator.score([task(()), task(PASSAGES[:1])])[0] == ()
    assert evaluator.score([]) == []


def test_a_score_depends_on_nothing_but_its_task(make: Make) -> None:
    evaluator = make()
    tasks = [task(PASSAGES[:n], question) for n in (5, 1, 3) for question in (QUESTION, "is the road red")]
    together = evaluator.score(tasks)
    assert [evaluator.score([one])[0] for one in tasks] == together
    assert evaluator.score(tasks[::-1]) == together[::-1]
    assert make().score(tasks) == together


def test_batches_and_order_change_no_more_than_last_bits(make: Make) -> None:
    [scores] = make().score([task()])
    for size in (1, 5):
        assert make(batch_size=size).score([task()])[0] == pytest.approx(scores, abs=1e-5)
    assert make().score([task(PASSAGES[::-1])])[0][::-1] == pytest.approx(scores, abs=1e-5)


def test_a_long_text_is_cut_at_its_end(make: Make) -> None:
    evaluator = make(max_length=16)
    texts = [Passage.of("bridge", ("anna " * 20 + last,)) for last in ("red", "blue")]
    [scores] = evaluator.score([task(texts)])
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
    [whole] = make(max_length=60).score([task(texts)])
    assert abs(whole[0] - whole[1]) > 1e-4


def test_the_fingerprint_names_weights_form_and_thresholds(make: Make, tmp_path: Path) -> None:
    prints = {
        make().fingerprint,
        make(max_length=64).fingerprint,
        make(title_separator="").fingerprint,
        make(Thresholds(0.5, -0.5)).fingerprint,
        make(Thresholds(0.5, -0.6)).fingerprint,
    }
    assert len(prints) == 5
    assert make(batch_size=7).fingerprint == make().fingerprint
    other = type(make())
    built = {T5Evaluator: tiny_t5, CrossEncoderEvaluator: tiny_cross_encoder}[other](tmp_path / "other", seed=1)
    assert other(TransformerSettings(str(built))).fingerprint not in prints


def test_it_travels_to_another_process_by_name(make: Make) -> None:
    evaluator = make(Thresholds(0.5, -0.5))
    again = pickle.loads(pickle.dumps(evaluator))
    assert again.fingerprint == evaluator.fingerprint and again.thresholds == (0.5, -0.5)
    assert again.score([task()]) == evaluator.score([task()])


def test_t5_reads_question_mark_and_passage_and_clips(folders: dict[type[TransformerEvaluator], Path]) -> None:
    settings = TransformerSettings(str(folders[T5Evaluator]), device="cpu")
    classifier = SequenceClassifier(settings)
    text = "who built the bridge [SEP] bridge // anna built the bridge"
    output = classifier.outputs([classifier.tokenizer(text, return_token_type_ids=False)])[0]
    evaluator = T5Evaluator(settings)
    assert evaluator.score([task(PASSAGES[:1])]) == [(pytest.approx(max(-1, min(1, output)), abs=1e-6),)]
    with torch.no_grad():
        evaluator._classifier.model.classification_head.out_proj.bias.fill_(9)
    assert evaluator.score([task(PASSAGES[:1])]) == [(1.0,)]


def test_a_text_that_spells_the_end_mark_is_read_past_it(folders: dict[type[TransformerEvaluator], Path]) -> None:
    evaluator = T5Evaluator(TransformerSettings(str(folders[T5Evaluator])))
    marked, plain = (Passage.of("", (text,)) for text in ("anna </s> built", "anna built"))
    [scores] = evaluator.score([task((marked, plain))])
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)


def test_a_cross_encoder_maps_its_logit_and_reads_no_more_than_it_can(
    folders: dict[type[TransformerEvaluator], Path],
) -> None:
    evaluator = CrossEncoderEvaluator(TransformerSettings(str(folders[CrossEncoderEvaluator]), device="cpu"))
    classifier = evaluator._classifier
    [logit] = classifier.outputs([classifier.tokenizer(QUESTION, "bridge // anna built the bridge")])
    assert evaluator.score([task(PASSAGES[:1])]) == [(pytest.approx(2 / (1 + math.exp(-logit)) - 1, abs=1e-6),)]
    [scores] = evaluator.score([task((Passage.of("", ("red " * 500,)),))])  # the model has 64 positions
    assert -1 <= scores[0] <= 1


def test_models_that_cannot_be_used_are_refused_by_name(
    folders: dict[type[TransformerEvaluator], Path], tmp_path: Path
) -> None:
    t5, cross = folders[T5Evaluator], folders[CrossEncoderEvaluator]
    for made, model, message in (
        (T5Evaluator, "", "which model"),
        (T5Evaluator, tmp_path / "absent", "cannot load the sequence classifier .*absent.* there is no such folder"),
        (T5Evaluator, cross, "is a bert: use it as a cross-encoder"),
        (CrossEncoderEvaluator, t5, "is a t5: use it as a T5 evaluator"),
        (T5Evaluator, tiny_t5(tmp_path / "two", outputs=2), "one output, .* has 2"),
        (
            T5Evaluator,
            tiny_t5(tmp_path / "bare", head=False),
            "no trained classifier: its files lack classification_head",
        ),
    ):
        with pytest.raises(ConfigError, match=message):
            made(TransformerSettings(str(model)))
    with pytest.raises(ConfigError, match=r"cannot load .* on nowhere"):
        T5Evaluator(TransformerSettings(str(t5), device="nowhere"))


def test_a_folder_that_names_a_cross_encoder_is_loaded(
    folders: dict[type[TransformerEvaluator], Path], tmp_path: Path
) -> None:
    settings = TransformerSettings(str(folders[CrossEncoderEvaluator]), device="cpu")
    save_transformer(tmp_path / "saved", "cross_encoder", settings)
    loaded = load_evaluator(tmp_path / "saved", BM25Retriever.build(list(PASSAGES)))
    assert isinstance(loaded, CrossEncoderEvaluator) and loaded.thresholds is None
    assert loaded.score([task()]) == CrossEncoderEvaluator(settings).score([task()])
    save_thresholds(tmp_path / "saved", Thresholds(0.2, -0.3), {})
    assert load_evaluator(tmp_path / "saved", BM25Retriever.build(list(PASSAGES))).thresholds == (0.2, -0.3)


def test_a_tokenizer_that_needs_sentencepiece_says_so(tmp_path: Path) -> None:
    if importlib.util.find_spec("sentencepiece"):
        pytest.skip("sentencepiece is installed")
    folder = tiny_t5(tmp_path / "slow")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "T5Tokenizer"}', encoding="utf-8")
    (folder / "spiece.model").write_bytes(b"\x0a\x00")
    with pytest.raises(ConfigError, match=r"which needs `pip install sentencepiece protobuf`"):
        T5Evaluator(TransformerSettings(str(folder)))


def test_an_output_that_is_no_number_fails_the_request(make: Make) -> None:
    evaluator = make()
    with torch.no_grad():
        for parameter in evaluator._classifier.model.parameters():
            parameter.fill_(math.nan)
    with pytest.raises(RequestFailedError, match="not a number"):
        evaluator.score([task()])


def test_without_the_extra_the_error_names_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(BackendUnavailableError, match=r"extra local: pip install 'evidencegym\[local\]'"):
        make()
