"""The edge at which files come in: whatever is raised behind it is one sentence about the file."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

import lmviz
from lmviz.autodiff.files import open_network
from lmviz.base.errors import LmvizError
from lmviz.base.loading import LOADERS, Unexpected, loads
from lmviz.desktop.scene import open_scene
from lmviz.features.dictionary_file import read_dictionary
from lmviz.features.graph_file import open_graph
from lmviz.features.own_names import read_names
from lmviz.inspection.trace import Trace
from lmviz.interchange.arpa import open_arpa
from lmviz.interchange.checkpoint import open_checkpoint
from lmviz.interchange.plain_pickle import read_plain_pickle
from lmviz.lectures.bundle import unpack
from lmviz.lectures.reading import open_lecture
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.results import open_results
from lmviz.polls.poll_file import open_poll
from lmviz.readouts.control_vector import read_control_vector
from lmviz.readouts.direction import read_direction
from lmviz.readouts.direction_file import read_directions
from lmviz.readouts.fitted_lens import read_lens
from lmviz.runs.converting import convert
from lmviz.runs.race_folder import open_race
from lmviz.series.curve_files import read_lines
from lmviz.series.curves import read_curves
from lmviz.text.corpus import load_corpus
from lmviz.text.tokenizer import Tokenizer
from lmviz.training.run import Run


class OfFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @loads("test", doing="looked at")
    def look(self) -> None:
        raise KeyError("no such key,\nover two lines")


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    LOADERS.pop("test", None)


def raising(fault: Exception) -> Callable[..., object]:
    def read(*arguments: object, **named: object) -> object:
        raise fault

    return read


KINDS = {
    "ARPA": (open_arpa, "lmviz.interchange.arpa.read_file"),
    "checkpoint": (open_checkpoint, "lmviz.interchange.checkpoint.read_state_dictionary"),
    "convert": (
        lambda path: convert(Run(path, None), path / "x.arpa"),
        "lmviz.runs.converting.open_model_of",
    ),
    "bundle": (unpack, "lmviz.lectures.bundle.check_ordinary"),
    "control vector": (read_control_vector, "lmviz.readouts.control_vector.read_gguf"),
    "curves": (
        lambda path: read_curves(path, read_lines),
        "lmviz.series.curve_files.read_text_file",
    ),
    "direction": (read_direction, "lmviz.text.ordinary_files.read_file"),
    "directions": (read_directions, "lmviz.text.ordinary_files.read_file"),
    "features": (read_dictionary, "lmviz.features.dictionary_file.read_file"),
    "graph of features": (open_graph, "lmviz.text.ordinary_files.read_file"),
    "lecture": (lambda path: open_lecture(path, ()), "lmviz.lectures.reading.read_text_file"),
    "lens": (read_lens, "lmviz.text.ordinary_files.read_file"),
    "lesson": (lambda path: open_lesson(path, ()), "lmviz.lessons.reading.read_text_file"),
    "names of features": (read_names, "lmviz.text.ordinary_files.read_file"),
    "network": (open_network, "lmviz.autodiff.files.read_text_file"),
    "pickle": (read_plain_pickle, "lmviz.interchange.plain_pickle.read_file"),
    "poll": (open_poll, "lmviz.polls.poll_file.read_text_file"),
    "race": (open_race, "lmviz.runs.race_folder.read_file"),
    "readings": (lmviz.open_readings, "lmviz.recording.readings.read_file"),
    "results": (open_results, "lmviz.lessons.results.read_file"),
    "run": (Run.open, "lmviz.training.run.read_file"),
    "scene": (open_scene, "lmviz.desktop.scene.read_file"),
    "text": (load_corpus, "lmviz.text.reading.read_file"),
    "tokenizer": (Tokenizer.load, "lmviz.text.tokenizer_file.read_file"),
    "trace": (Trace.load, "lmviz.inspection.trace.read_trace"),
}
"""A reader of each kind of file, and what it is broken at."""


def test_every_kind_of_file_has_a_reader_with_an_edge() -> None:
    assert set(LOADERS) == set(KINDS)


@pytest.mark.brings_to_light
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_reader_did_not_think_of_is_said_of_its_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    read, broken = KINDS[kind]
    path = tmp_path / "stranger.file"
    path.write_text("anything\n" * 20, encoding="utf-8")
    monkeypatch.setattr(broken, raising(IndexError("tuple index\nout of range")))
    with pytest.raises(Unexpected) as said:
        read(path)
    assert str(path) in str(said.value)
    assert "(IndexError: tuple index out of range): choose another" in str(said.value)
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "Traceback" in record.getMessage()
    assert str(path) in record.getMessage()


@pytest.mark.brings_to_light
def test_what_has_a_folder_is_called_by_it(tmp_path: Path) -> None:
    with pytest.raises(Unexpected, match=r"cannot be looked at, .*\(KeyError: .*over two lines'\)") as said:
        OfFolder(tmp_path / "run").look()
    assert str(said.value).startswith(str(tmp_path / "run"))


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (MemoryError(), "needs more memory than there is"),
        (
            RuntimeError("[enforce fail] can't allocate memory: you tried 9 TB"),
            "needs more memory than there is",
        ),
        (PermissionError(13, "Permission denied"), "cannot be read (Permission denied)"),
        (PermissionError(13, "Permission denied", "/inner"), "/inner cannot be read (Permission denied)"),
        (LmvizError("It is empty: type some."), "It is empty: type some."),
    ],
)
def test_what_is_no_defect_has_a_sentence_of_its_own(fault: Exception, sentence: str) -> None:
    with pytest.raises(LmvizError) as said:
        loads("test")(raising(fault))("a.file")
    assert sentence in str(said.value)
    assert not isinstance(said.value, Unexpected)


def test_who_hears_of_the_progress_may_raise_what_they_like(small_text: Path) -> None:
    class GivenUp(Exception):
        pass

    with pytest.raises(GivenUp):
        lmviz.load_corpus(small_text, progress=raising(GivenUp()))
    with pytest.raises(KeyboardInterrupt):
        loads("test")(raising(KeyboardInterrupt()))("a.file")
