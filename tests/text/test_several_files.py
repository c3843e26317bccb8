"""Files that belong together by their names."""

from pathlib import Path

import pytest

from lmviz.text.several_files import file_in_another_language


@pytest.mark.parametrize(
    ("opened", "beside", "found"),
    [
        ("pairs.de", ["pairs.en"], "pairs.en"),
        ("train.en.txt", ["train.de.txt", "val.de.txt"], "train.de.txt"),
        ("pairs.de", ["other.en", "pairs.txt"], None),
        ("pairs.de", ["pairs.en", "pairs.fr"], None),
        ("text.txt", ["pairs.en"], None),
    ],
)
def test_the_file_in_another_language_is_found_where_there_is_one(
    tmp_path: Path, opened: str, beside: list[str], found: str | None
) -> None:
    for name in (opened, *beside):
        (tmp_path / name).write_text("yes\n", encoding="utf-8")
    assert file_in_another_language(tmp_path / opened) == (found and tmp_path / found)
