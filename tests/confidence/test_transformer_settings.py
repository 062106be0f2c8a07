"""Settings of transformer evaluators: ranges, manifests, and how a passage is shown."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evidencegym.confidence.transformer_files import save_transformer
from evidencegym.confidence.transformer_settings import TransformerSettings
from evidencegym.data.errors import ConfigError
from evidencegym.data.records import Passage
from evidencegym.data.storage import read_manifest


@pytest.mark.parametrize("wrong", [{"batch_size": 0}, {"max_length": 7}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"batch_size must be at least 1 and .*max_length at least 8"):
        TransformerSettings("m", **wrong)


def test_a_manifest_gives_the_settings_back() -> None:
    settings = TransformerSettings("a/b", "v1", "cpu", 3, 99, " | ", "")
    assert TransformerSettings.of(settings.source()) == settings
    assert TransformerSettings.of(None) == TransformerSettings()
    with pytest.raises(ConfigError, match=r"names no transformer that can be used .*'depth'"):
        TransformerSettings.of({"depth": 3})


def test_a_point_stands_for_the_folder_of_the_manifest(tmp_path: Path) -> None:
    assert TransformerSettings.of({"model": "."}, tmp_path).model == str(tmp_path)
    assert TransformerSettings.of({"model": "a/b"}, tmp_path).model == "a/b"


def test_a_passage_is_shown_on_one_line_with_its_title() -> None:
    passage = Passage.of("Tower  Bridge", ("Built\nin 1894.", " ", "Old."))
    assert TransformerSettings().shown(passage) == "Tower Bridge // Built in 1894. Old."
    assert TransformerSettings(title_separator="").shown(passage) == "Built in 1894. Old."
    assert TransformerSettings().shown(Passage.of("", ("Old.",))) == "Old."
    assert TransformerSettings().shown(Passage.of("Tower", (" ",))) == ""


def test_what_does_not_change_a_score_is_left_out_of_it() -> None:
    settings = TransformerSettings("m", device="cpu", batch_size=2)
    assert settings.scoring() == TransformerSettings("n").scoring()
    assert settings.scoring() != TransformerSettings("m", max_length=64).scoring()


def test_a_folder_names_a_model_without_loading_it(tmp_path: Path) -> None:
    local = tmp_path / "model"
    local.mkdir()
    save_transformer(tmp_path / "a", "cross_encoder", TransformerSettings("owner/name"))
    save_transformer(tmp_path / "b", "t5", TransformerSettings(str(local)))
    manifest = read_manifest(tmp_path / "a", "evaluator")
    assert (manifest["type"], manifest["thresholds"]) == ("cross_encoder", None)
    assert TransformerSettings.of(manifest["settings"], tmp_path / "a") == TransformerSettings("owner/name")
    assert read_manifest(tmp_path / "b", "evaluator")["settings"]["model"] == str(local.resolve())
    with pytest.raises(ConfigError, match="which model"):
        save_transformer(tmp_path / "c", "t5", TransformerSettings())
    with pytest.raises(ConfigError, match="expected t5 or cross_encoder"):
        save_transformer(tmp_path / "c", "bert", TransformerSettings("m"))  # type: ignore[arg-type]


def test_the_modules_load_without_the_extra() -> None:
    modules = ("confidence.t5", "confidence.cross_encoder", "training.evaluator_t5")
    script = "; ".join(f"import evidencegym.{name}" for name in modules)
    code = f"import sys; {script}; print(sorted({{'torch', 'transformers'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
