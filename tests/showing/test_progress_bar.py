"""The bar draws how far work has come, in a terminal and in a notebook, and nothing elsewhere."""

import io
import sys
from types import SimpleNamespace

import pytest

import lmviz
from lmviz.showing import progress_bar
from lmviz.showing.progress_bar import ProgressBar


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


def test_in_a_terminal_it_is_one_line_that_ends(monkeypatch):
    monkeypatch.setattr(progress_bar, "EVERY", 0.0)
    stream = Terminal()
    bar = ProgressBar("two\nlines", stream)
    for share in (0.0, 0.5, 1.0, 1.0):
        bar(share)
    *_, last = stream.getvalue().split("\r")
    assert "two lines  100 %" in last
    assert "two lines  50 %" in stream.getvalue()
    assert stream.getvalue().count("\n") == 1


def test_it_is_not_drawn_more_often_than_an_eye_follows():
    stream = Terminal()
    bar = ProgressBar(stream=stream)
    for share in range(10_000):
        bar(share / 10_000)
    assert stream.getvalue().count("\r") < 100


def test_elsewhere_nothing_is_written():
    stream = io.StringIO()
    ProgressBar("title", stream)(1.0)
    assert stream.getvalue() == ""


def test_in_a_notebook_one_element_is_drawn_anew(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda bar: shown.append(bar._repr_html_()))
    display = SimpleNamespace(display=lambda bar, display_id: handle)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=display))
    bar = ProgressBar("<b>")
    bar(1.0)
    assert shown == ['<label><progress max="1" value="1.0000"></progress> &lt;b&gt;  100 %</label>']


def test_it_follows_a_training_and_refuses_what_is_no_title(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("a b a b\n" * 20)
    bar = lmviz.progress_bar("training")
    lmviz.train("gru", lmviz.load_corpus(path), tmp_path / "run", steps=2, width=4, seed=0, progress=bar)
    assert "step 2 of 2, loss" in repr(bar)
    assert bar.share == 1.0
    with pytest.raises(lmviz.LmvizError, match="no title"):
        lmviz.progress_bar(3)
