"""What is written can be read again, and holds what was shown."""

import csv
import os

import numpy as np
import pytest
from PySide6.QtGui import QImage
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel, QScrollArea, QVBoxLayout, QWidget

from lmviz.app.widgets.base.export import fits_csv, save_arrays, save_picture, svg_of
from lmviz.base.errors import LmvizError
from lmviz.looks.names import Names


@pytest.fixture
def label(qtbot):
    widget = QLabel("softmax")
    qtbot.addWidget(widget)
    widget.resize(120, 40)
    return widget


def test_png_has_twice_the_size(label, tmp_path):
    save_picture(label, tmp_path / "picture.png")
    image = QImage(str(tmp_path / "picture.png"))
    assert (image.width(), image.height()) == (240, 80)


def test_svg_can_be_drawn_again(label, tmp_path):
    save_picture(label, tmp_path / "picture.svg")
    renderer = QSvgRenderer(str(tmp_path / "picture.svg"))
    assert renderer.isValid()
    assert renderer.viewBox().width() == 120


def test_what_a_scroll_area_hides_is_cut_off_in_svg(shown):
    words, both = QLabel("\n".join(f"line {number}" for number in range(99))), QWidget()
    area, above = QScrollArea(), QLabel("above")
    area.setWidget(words)
    column = QVBoxLayout(both)
    column.addWidget(above)
    column.addWidget(area)
    shown(both, 300, 200)
    area.verticalScrollBar().setValue(500)
    svg = svg_of(both).decode()
    viewport = area.viewport()
    assert f'<rect x="0" y="0" width="{viewport.width()}" height="{viewport.height()}"/></clipPath>' in svg
    assert svg.index("above</text>") < svg.index('<clipPath id="part') < svg.index("line 3</text>")
    assert QSvgRenderer(svg.encode()).isValid()


def test_csv_and_npz_hold_the_numbers(tmp_path):
    table = np.array([[1.5, -2.25], [0.0, 1e-9]])
    save_arrays({"layers/0/hidden": table}, tmp_path / "a.csv", Names(["The", "bat"], ["unit 1", "unit 2"]))
    head, *rows = list(csv.reader((tmp_path / "a.csv").open()))
    assert head == ["", "unit 1", "unit 2"]
    assert [row[0] for row in rows] == ["The", "bat"]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], dtype=float), table)
    save_arrays({"layers/0/hidden": table}, tmp_path / "a.npz")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npz")["layers.0.hidden"], table)


def test_columns_of_the_same_length_are_one_table_under_their_names(tmp_path):
    columns = {"p": np.array([0.5, 0.25]), "rank": np.array([1, 3])}
    assert fits_csv(columns)
    save_arrays(columns, tmp_path / "a.csv", Names(["The", "bat"]))
    assert list(csv.reader((tmp_path / "a.csv").open())) == [
        ["", "p", "rank"],
        ["The", "0.5", "1"],
        ["bat", "0.25", "3"],
    ]


def test_a_table_without_rows_has_its_first_line_alone(tmp_path):
    save_arrays({"p": np.zeros(0), "id": np.zeros(0, int)}, tmp_path / "a.csv")
    assert list(csv.reader((tmp_path / "a.csv").open())) == [["p", "id"]]
    save_arrays({"a": np.zeros((0, 2))}, tmp_path / "a.csv", Names((), ["one", "two"]))
    assert list(csv.reader((tmp_path / "a.csv").open())) == [["one", "two"]]


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.png", "a.svg"])
def test_what_was_saved_before_is_kept_where_the_disk_is_full(label, tmp_path, monkeypatch, name):
    def save() -> None:
        if name.endswith(("csv", "npz")):
            save_arrays({"a": np.zeros(3)}, tmp_path / name)
        else:
            save_picture(label, tmp_path / name)

    def fail(*given: object) -> None:
        raise OSError(28, "No space left on device")

    save()
    before = (tmp_path / name).read_bytes()
    label.setText("another")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LmvizError, match="No space left"):
        save()
    assert (tmp_path / name).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_columns_without_names_are_counted_from_one(tmp_path):
    save_arrays({"a": np.arange(4).reshape(2, 2)}, tmp_path / "a.csv", Names(["only one name"]))
    assert list(csv.reader((tmp_path / "a.csv").open())) == [["1", "2"], ["0", "1"], ["2", "3"]]


@pytest.mark.parametrize(
    ("arrays", "name"),
    [
        ({"a": np.zeros(3)}, "a.txt"),
        ({"a": np.zeros((2, 2, 2))}, "a.csv"),
        ({"a": np.zeros(2), "b": np.zeros(3)}, "a.csv"),
        ({"a": np.zeros(2)}, "file/a.npz"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(tmp_path, arrays, name):
    (tmp_path / "file").touch()
    with pytest.raises(LmvizError, match=r"\.$"):
        save_arrays(arrays, tmp_path / name)
