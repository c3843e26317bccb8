"""Reads pictures with captions: a picture, a tab and its caption on each line."""

from __future__ import annotations

from lmviz.base.errors import LmvizError
from lmviz.text.pairs import PairCollector
from lmviz.text.pictures import picture_of, pixels_of
from lmviz.text.tagged import lines_of
from lmviz.text.task_text import Complaints


def read_captions(data: bytes, found: PairCollector, complaints: Complaints) -> None:
    """A picture and its caption on each line, parted by a tab."""
    for number, line in lines_of(data):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            if any(cells):
                complaints.add(number, "has not a picture and a caption with one tab between them")
            continue
        try:
            found.add(picture_of(pixels_of(cells[0])), cells[1])
        except LmvizError as error:
            complaints.add(number, f"has no picture. {str(error).removesuffix('.')}")
