"""The check of the bundle finds what is wrong with one.

That a sound one passes is seen by `python3 start.py bundle`, which takes minutes.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from patience import patience

pytest.importorskip("PIL", reason="Pillow is in the extra for the bundle")
from PIL import Image

SCRIPT = Path(__file__).parent.parent / "resources" / "packaging" / "check_bundle.py"
OURS = f'#!/bin/sh\nexec "{sys.executable}" -m lmviz "$@"\n'


@pytest.fixture
def check(monkeypatch, tmp_path):
    specification = importlib.util.spec_from_file_location("check_bundle", SCRIPT)
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "check_bundle", module)
    specification.loader.exec_module(module)
    monkeypatch.setattr(sys, "argv", ["check_bundle.py", str(tmp_path)])
    monkeypatch.setattr(module, "PATIENCE", 20.0 * patience())
    return module


def make_program(folder: Path, text: str) -> None:
    program = folder / "lmviz"
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)


def test_a_bundle_that_was_not_made_is_said(check, capsys):
    assert check.main() == 1
    assert "it was not made" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("#!/bin/sh\necho lmviz 0.0\n", "'lmviz 0.0' and should be lmviz"),
        ("#!/bin/sh\necho no module >&2\nexit 3\n", "ended with 3: no module"),
    ],
)
def test_a_bundle_that_is_old_or_does_not_start_is_said(check, capsys, tmp_path, program, sentence):
    make_program(tmp_path, program)
    assert check.main() == 1
    assert sentence in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="the window is checked on Linux")
def test_a_window_that_ends_is_said_with_what_it_said(check, tmp_path):
    make_program(tmp_path, "#!/bin/sh\necho no plugin >&2\nexit 1\n")
    bundle = check.Bundle(tmp_path, tmp_path, display="")
    with pytest.raises(check.Lack, match=r"ended with 1 before .*\. It said: no plugin"):
        list(check.check_perspectives(bundle))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the window is checked on Linux")
def test_a_window_that_opens_models_of_somewhere_else_is_said(check, tmp_path):
    make_program(tmp_path, OURS)
    bundle = check.Bundle(tmp_path, tmp_path, display="")
    with pytest.raises(check.Lack, match=r"not open a sample model of its own but .*sample_models"):
        list(check.check_sample_model(bundle))


def test_what_was_written_to_the_log_is_found(check, tmp_path):
    make_program(tmp_path, OURS)
    bundle = check.Bundle(tmp_path, tmp_path, display="")
    log = tmp_path / "state" / "lmviz.log"
    log.parent.mkdir()
    log.write_text("WARNING Qt: no theme\n", encoding="utf-8")
    assert bundle.faults() == ""
    log.write_text("2026 ERROR unexpected\nFileNotFoundError: symbols.txt\n", encoding="utf-8")
    assert "symbols.txt" in bundle.faults()


def test_an_empty_screen_is_no_window(check, tmp_path):
    file = tmp_path / "pictures" / "inside.png"
    with pytest.raises(check.Lack, match="1 colours, one of them on 100%"):
        check.check_picture(Image.new("RGB", check.SCREEN, "black"), file)
    check.check_picture(Image.effect_noise(check.SCREEN, 60.0), file)
    assert file.is_file()


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
def test_a_bundle_that_makes_no_handout_is_said(check, tmp_path):
    make_program(tmp_path, OURS)
    bundle = check.Bundle(tmp_path, tmp_path, display="")
    check.check_handout(bundle)
    make_program(tmp_path, "#!/bin/sh\nexit 1\n")
    with pytest.raises(check.Lack, match="does not make a handout"):
        check.check_handout(bundle)
