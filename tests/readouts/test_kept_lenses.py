"""Lenses that are kept beside a run, and found again for that run alone."""

from pathlib import Path

import numpy as np
import pytest

import lmviz
from lmviz.base.places import shipped
from lmviz.readouts.kept_lenses import keep, kept, kept_at

TEXTS = ["the cows eat hay and the hens eat corn"] * 3


@pytest.fixture(scope="module")
def fitted(farm_run):
    model = lmviz.open_model(farm_run.folder)
    return farm_run, model, lmviz.lens(model, TEXTS, "tuned", passages=2, length=8).fitted


def test_a_kept_lens_is_found_again_beside_its_run(fitted):
    run, model, lens = fitted
    path = kept_at(run.folder, run.description.created, "tuned", 2)
    assert path.parent == run.folder / "lenses"
    assert kept(path, model) is None
    keep(lens, path)
    again = kept(path, model)
    assert again.passages == lens.passages
    assert all(np.array_equal(again.maps[place], lens.maps[place]) for place in lens.maps)
    path.write_bytes(b"no lens")
    assert kept(path, model) is None
    path.unlink()


def test_another_run_in_the_folder_or_another_step_has_another_file(fitted):
    run, _, _ = fitted
    created = run.description.created
    paths = {
        kept_at(run.folder, created, "tuned", 2),
        kept_at(run.folder, created, "tuned", 1),
        kept_at(run.folder, created, "jacobian", 2),
        kept_at(run.folder, "another day", "tuned", 2),
    }
    assert len(paths) == 4


def test_nothing_is_written_into_a_sample_model_or_a_folder_of_another_program(tmp_path, monkeypatch):
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    sample = shipped("sample_models") / "stories-transformer"
    for folder in (sample, tmp_path / "checkpoint"):
        assert folder not in kept_at(folder, "today", "tuned", 0).parents
    assert kept_at(sample, "", "tuned", 0) != kept_at(Path("elsewhere"), "", "tuned", 0)
