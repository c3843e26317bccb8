"""Files that belong together, read as plain text, can be said to belong together again."""

from pathlib import Path

from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.preview import Preview, look


def read_for(offer: Preview, task: str) -> Preview:
    """What is offered once another task has been chosen."""
    source, options, target = offer.with_task(task)
    return look(source, options, target=target)


def test_folders_are_labels_again(tmp_path: Path) -> None:
    for name in ("spring", "autumn"):
        (tmp_path / name).mkdir()
        for number in range(3):
            (tmp_path / name / f"{number}.txt").write_text(f"a letter in {name}", encoding="utf-8")
    files = tuple(str(path) for path in sorted(tmp_path.rglob("*.txt")))
    offer = look(files, CorpusOptions(task="classification", form="folders"))
    plain = read_for(offer, "next-token")
    assert plain.layout is None
    again = read_for(plain, "classification")
    assert again.complaint == ""
    assert again.labels == (("autumn", 3), ("spring", 3))


def test_two_texts_are_two_languages_again(tmp_path: Path) -> None:
    (tmp_path / "left").write_text("".join(f"the house {n}\n" for n in range(9)), encoding="utf-8")
    (tmp_path / "right").write_text("".join(f"das Haus {n}\n" for n in range(9)), encoding="utf-8")
    offer = look(str(tmp_path / "left"), target=str(tmp_path / "right"))
    again = read_for(read_for(offer, "next-token"), "translation")
    assert again.complaint == ""
    assert (again.source, again.target, again.count) == (offer.source, offer.target, 9)


def test_what_belongs_to_nothing_is_refused_as_before(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text("a plain text\n" * 5, encoding="utf-8")
    files = tuple(str(tmp_path / f"{name}.txt") for name in ("one", "two"))
    assert "no text with a label" in read_for(look(files, CorpusOptions()), "classification").complaint
