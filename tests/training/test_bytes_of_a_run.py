"""The files of a run: they obey the umask, none is left over, and what was deleted is written again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from small_models import small_settings

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES
from lmviz.models.tensor_file import CODES, write_tensor_file
from lmviz.text.corpus import Corpus
from lmviz.training.lock import LOCK_NAME, BeingTrained, holding
from lmviz.training.options import PRECISIONS
from lmviz.training.progress import Progress
from lmviz.training.run import Run

TINY = {
    "steps": 8,
    "batch": 2,
    "length": 5,
    "validate_every": 0,
    "width": 4,
    "snapshots": 8,
    "resume_seconds": 1,
}


@pytest.fixture(scope="module")
def corpus(small_text: Path) -> Corpus:
    return lmviz.load_corpus(small_text)


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_every_file_obeys_the_umask(umask: None, corpus: Corpus, tmp_path: Path) -> None:
    run = lmviz.train(
        "transformer", corpus, tmp_path / "run", **{**TINY, "heads": 2, "layers": 1, "context": 8}
    )
    lmviz.save_pretrained(run.folder, tmp_path / "saved")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert {oct(path.stat().st_mode & 0o777) for path in files} == {"0o640"}


def test_tensors_of_every_kind_are_written_as_safetensors(tmp_path: Path) -> None:
    kinds = {str(kind): torch.arange(6).reshape(2, 3).to(kind) for kind in CODES}
    shared = torch.ones(4, 2)
    odd = {"scalar": torch.tensor(2.5), "empty": torch.zeros(0, 3), "tied": shared, "turned": shared.t()}
    write_tensor_file(tmp_path / "all", kinds | odd, {"step": "3"})
    found = load_file(tmp_path / "all")
    assert set(found) == set(kinds | odd)
    for name, tensor in (kinds | odd).items():
        assert found[name].dtype == tensor.dtype
        assert torch.equal(found[name].double(), tensor.double()), name


@pytest.mark.parametrize("family", FAMILIES)
def test_the_numbers_of_every_family_are_written(family: str, corpus: Corpus, tmp_path: Path) -> None:
    settings = {} if family == "ngram" else small_settings(family)
    for precision in PRECISIONS:
        run = lmviz.train(
            family, corpus, tmp_path / precision, steps=2, snapshot_precision=precision, **settings
        )
        assert lmviz.open_model(run.folder, 1 if 1 in run.snapshots() else None).step <= 2


KILLED = """
import os, sys, signal
import lmviz
from lmviz.text.corpus import load_corpus
written = [0]
def look(event, arguments):
    if event == "os.rename":
        written[0] += 1
        if written[0] == 12:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(look)
lmviz.train("lstm", load_corpus(sys.argv[1]), sys.argv[2], **{settings})
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
def test_what_a_kill_leaves_half_written_goes_when_the_training_goes_on(
    small_text: Path, tmp_path: Path
) -> None:
    words = [
        sys.executable,
        "-c",
        KILLED.replace("{settings}", repr(TINY)),
        str(small_text),
        str(tmp_path / "run"),
    ]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    left = {path.name for path in (tmp_path / "run").rglob(".*")}
    assert left
    assert all(name.endswith(".part") for name in left)
    (tmp_path / "run" / "snapshots" / ".tmpAbC123").write_bytes(b"of an older version")
    lmviz.train("lstm", lmviz.load_corpus(small_text), tmp_path / "run", resume=True, **TINY)
    assert not list((tmp_path / "run").rglob(".*"))


@pytest.mark.parametrize("name", ["run.json", "tokenizer.json", LOCK_NAME])
def test_what_is_deleted_under_a_training_is_written_again(name: str, corpus: Corpus, tmp_path: Path) -> None:
    folder = tmp_path / "run"

    def delete(progress: Progress) -> None:
        if not progress.finished:
            (folder / name).unlink(missing_ok=True)

    lmviz.train("lstm", corpus, folder, progress=delete, **TINY)
    lmviz.train("lstm", corpus, folder, resume=True, **{**TINY, "steps": 9})
    assert lmviz.open_model(folder).step == 9


def test_of_two_trainers_the_one_whose_lock_was_deleted_stops(corpus: Corpus, tmp_path: Path) -> None:
    folder, others = tmp_path / "run", []

    def begin_another(progress: Progress) -> None:
        if progress.step == 3:
            (folder / LOCK_NAME).unlink()
            others.append(holding(folder))
            others[0].__enter__()

    with pytest.raises(LmvizError, match="is being trained already"):
        lmviz.train("lstm", corpus, folder, progress=begin_another, **TINY)
    assert max(Run.open(folder).snapshots()) == 3
    with pytest.raises(BeingTrained), holding(folder):
        pass
    others[0].__exit__(None, None, None)


def test_a_run_that_was_deleted_is_not_to_be_looked_into(
    small_text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmviz.cli import run as command
    from lmviz.training.run import Run

    folder, metrics = tmp_path / "run", Run.metrics

    def late(run: Run) -> object:
        (folder / "run.json").unlink(missing_ok=True)
        return metrics(run)

    monkeypatch.setattr(Run, "metrics", late)
    words = ["train", "--corpus", str(small_text), "--family", "lstm", "--set", "width=4", "--steps", "2"]
    assert command([*words, "--out", str(folder)]) == 2
    said = capsys.readouterr()
    assert "Look into it" not in said.out
    assert "is no longer a run" in said.err
