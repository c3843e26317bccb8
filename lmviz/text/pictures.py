"""Pictures of pixels that are painted or blank: as they are written, and as tokens.

A picture is written as its rows with slashes between them, such as "..#..../.###.../..#....": `#` or 1 is
painted, `.` or 0 is blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from lmviz.base.errors import LmvizError
from lmviz.text.tokenizer import UNKNOWN, Tokenizer
from lmviz.text.tokenizer_file import CHARACTER_PATTERN

SIDE = 7
PIXELS = SIDE * SIDE
"""A picture has so many rows and columns, and so many pixels, row by row."""

BLANK, PAINTED = ".", "#"
"""The two pixels as they are written; as tokens they have the ids 0 and 1."""

_OTHERWISE = {"0": BLANK, "1": PAINTED}
_ROW = "/"


def picture_of(pixels: Sequence[bool]) -> str:
    """How pixels (pixel,), row by row, are written."""
    written = "".join(PAINTED if pixel else BLANK for pixel in pixels)
    return _ROW.join(written[first : first + SIDE] for first in range(0, len(written), SIDE))


def pixels_of(picture: str) -> tuple[bool, ...]:
    """The pixels of a picture row by row, (pixel,); LmvizError where it is none."""
    written = picture.strip()
    for other, pixel in _OTHERWISE.items():
        written = written.replace(other, pixel)
    rows = written.split(_ROW)
    if len(rows) != SIDE:
        raise LmvizError(f"A picture has {SIDE} rows with / between them, and {picture!r} has {len(rows)}.")
    for number, row in enumerate(rows, start=1):
        if len(row) != SIDE:
            raise LmvizError(f"Row {number} of a picture has {SIDE} pixels, and {row!r} has {len(row)}.")
        if strange := set(row) - {BLANK, PAINTED}:
            raise LmvizError(
                f"A pixel is {PAINTED} (painted) or {BLANK} (blank), and row {number} has {min(strange)!r}."
            )
    return tuple(pixel == PAINTED for row in rows for pixel in row)


def check_pixels(ids: Sequence[int]) -> None:
    """LmvizError where ids (pixel,) of `picture_tokenizer` are no picture."""
    if len(ids) != PIXELS or not set(ids) <= {0, 1}:
        raise LmvizError(
            f"This is not a picture: give {SIDE} rows of {SIDE} pixels with / between them, {PAINTED} for a "
            f"painted pixel and {BLANK} for a blank one."
        )


def is_picture(text: str) -> bool:
    """Whether a text is a picture as it is written."""
    try:
        pixels_of(text)
    except LmvizError:
        return False
    return True


@cache
def picture_tokenizer() -> Tokenizer:
    """The tokenizer of every picture: a token for each pixel, and none for what parts the rows."""
    from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers
    from tokenizers import Tokenizer as Backend

    vocabulary = {BLANK: 0, PAINTED: 1, UNKNOWN: 2}
    backend = Backend(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    backend.add_special_tokens([AddedToken(UNKNOWN, normalized=False, special=True)])
    others = [normalizers.Replace(other, pixel) for other, pixel in _OTHERWISE.items()]
    backend.normalizer = normalizers.Sequence([normalizers.Replace(Regex(rf"[{_ROW}\s]"), ""), *others])
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(CHARACTER_PATTERN), "isolated")
    backend.decoder = decoders.Fuse()
    return Tokenizer(backend)
