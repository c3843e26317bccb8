"""What lies in a folder once links are followed, and what only seems to."""

import os
from pathlib import Path

import pytest

from lmviz.base.places import elsewhere


@pytest.fixture
def lecture(tmp_path: Path) -> Path:
    folder = tmp_path / "lecture"
    (folder / "texts").mkdir(parents=True)
    (folder / "texts" / "farm.txt").write_text("The cow eats grass.")
    (tmp_path / "secret.txt").write_text("nobody is to read this")
    return folder


def test_what_lies_in_a_folder_may_be_named_in_any_way(
    lecture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lecture / "link.txt").symlink_to("texts/farm.txt")
    (tmp_path / "way").symlink_to(lecture)
    monkeypatch.chdir(lecture)
    for name in ("", "texts/farm.txt", "texts/../texts", "link.txt", "not there.txt"):
        assert elsewhere(lecture / name, [lecture]) is None, name
        assert elsewhere(name or ".", [lecture]) is None, name
        assert elsewhere(tmp_path / "way" / name, [lecture / "texts", tmp_path / "way"]) is None, name
        assert elsewhere(lecture / name, [tmp_path / "way"]) is None, name


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("link.txt", "../secret.txt"),
        ("link.txt", "texts/../../secret.txt"),
        ("texts/link.txt", "{}/secret.txt"),
        ("up", "{}"),
        ("texts/deep/link", "../../../secret.txt"),
    ],
)
def test_a_link_lies_where_it_leads(lecture: Path, tmp_path: Path, link: str, to: str) -> None:
    (lecture / link).parent.mkdir(exist_ok=True)
    (lecture / link).symlink_to(to.format(tmp_path))
    for named in (lecture / link, lecture / link.partition("/")[0], lecture):
        assert elsewhere(named, [lecture]) == os.path.realpath(lecture / link), named
    assert elsewhere(lecture / link, [tmp_path]) is None


def test_a_link_to_a_link_and_a_way_back_out_of_a_linked_folder_are_followed(
    lecture: Path, tmp_path: Path
) -> None:
    (tmp_path / "other" / "deep").mkdir(parents=True)
    (lecture / "first").symlink_to("second")
    (lecture / "second").symlink_to("deep/../secret.txt")
    (lecture / "deep").symlink_to(tmp_path / "other" / "deep")
    assert elsewhere(lecture / "first", [lecture]) == str(tmp_path / "other" / "secret.txt")
    assert elsewhere(lecture / "deep" / ".." / "secret.txt", [lecture]) is not None
    (lecture / "circle").symlink_to("circle")
    assert elsewhere(lecture / "circle", [lecture]) is None  # whoever opens it is told that it is one


def test_what_is_elsewhere_by_its_name_is_not_touched(lecture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched: list[str] = []
    stat = os.lstat
    monkeypatch.setattr(os, "lstat", lambda path, **how: touched.append(str(path)) or stat(path, **how))
    for name in ("/net/host/share/text", str(lecture / ".." / "secret.txt")):
        assert elsewhere(name, [lecture]) == os.path.abspath(name)
    assert touched
    assert not [path for path in touched if "host" in path or "secret" in path]


def test_what_cannot_be_looked_through_is_elsewhere(lecture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert elsewhere(lecture / "a\0b", [lecture]) is not None
    monkeypatch.setattr("lmviz.base.places.MOST_ENTRIES", 1)
    assert elsewhere(lecture / "texts", [lecture]) is None
    (lecture / "texts" / "second.txt").write_text("The hen eats corn.")
    assert elsewhere(lecture / "texts", [lecture]) == str(lecture / "texts")
