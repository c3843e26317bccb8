"""A model that is opened is shown a text that it can read."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.api.training import find_run, train
from lmviz.app.opening.beginning import load_first_screen
from lmviz.app.session.session import Session
from lmviz.text.catalogue import CATALOGUE, find_entry
from lmviz.text.corpus import load_corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.first_example import LONGEST, first_example
from lmviz.training.description import WITH_SOURCE

STORY = "Maya put the brown stone in the barrel."


def show(session: Session, qtbot: QtBot, name: str) -> None:
    with qtbot.waitSignal(session.library.model_changed, timeout=20_000):
        session.library.open(name)


def unknown(session: Session) -> list[str]:
    encoding = session.reading.encoding
    return [token for token, is_so in zip(encoding.tokens, encoding.unknown, strict=True) if is_so]


def test_a_tagger_of_another_text_reads_an_example_of_its_own(session: Session, qtbot: QtBot) -> None:
    session.reading.set_prefix(STORY)
    show(session, qtbot, "ambiguous-gru-both")
    qtbot.waitUntil(lambda: session.reading.prefix != STORY)
    assert session.reading.encoding.tokens
    assert not unknown(session)


def test_a_tagger_that_is_opened_before_anything_is_typed_reads_an_example(
    session: Session, qtbot: QtBot
) -> None:
    assert session.reading.prefix == ""
    show(session, qtbot, "ambiguous-gru-both")
    qtbot.waitUntil(lambda: session.reading.current is not None and len(session.reading.current.trace) > 1)
    assert not unknown(session)


def test_a_language_model_begins_with_nothing_typed(session: Session, qtbot: QtBot) -> None:
    show(session, qtbot, "stories-lstm")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.work.is_busy("fitting text"))
    assert session.reading.prefix == ""


def test_a_model_whose_text_is_not_there_writes_a_line_itself_where_one_is_wanted(
    session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    run = copy_of("stories-lstm", tmp_path / "lstm", ["/nowhere/at/all.txt"])
    session.permission.allow(["/nowhere/at/all.txt"])
    show(session, qtbot, str(run))
    session.fitting.want_example()
    qtbot.waitUntil(lambda: bool(session.reading.prefix))
    assert len(session.reading.prefix) > 5
    assert not unknown(session)


def test_what_a_model_wrote_itself_gives_way_to_its_text_once_that_may_be_read(
    session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    text = tmp_path / "elsewhere" / "stories.txt"
    text.parent.mkdir()
    text.write_text(f"{STORY}\n" * 20, encoding="utf-8")
    run = copy_of("stories-lstm", tmp_path / "lstm", [str(text)])
    show(session, qtbot, str(run))
    with qtbot.waitSignal(session.permission.asked) as asked:
        session.fitting.want_example()
    qtbot.waitUntil(lambda: bool(session.reading.prefix))
    assert session.reading.prefix != STORY
    session.permission.allow([str(text)])
    asked.args[1]()
    qtbot.waitUntil(lambda: session.reading.prefix == STORY)


def copy_of(name: str, folder: Path, sources: list[str]) -> Path:
    """A sample model of which another text is said to be its own."""
    shutil.copytree(find_run(name), folder)
    description = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    description["corpus"]["sources"] = sources
    (folder / "run.json").write_text(json.dumps(description), encoding="utf-8")
    return folder


@pytest.mark.slow
def test_what_was_typed_comes_back_with_a_model_that_can_read_it(session: Session, qtbot: QtBot) -> None:
    session.reading.set_prefix(STORY)
    show(session, qtbot, "twin-gru-attention-short")
    qtbot.waitUntil(lambda: bool(session.reading.source))
    assert not unknown(session)
    show(session, qtbot, "stories-lstm")
    assert session.reading.prefix == STORY


@pytest.mark.slow
def test_a_translator_without_a_source_gets_a_whole_pair(session: Session, qtbot: QtBot) -> None:
    session.reading.set_prefix("le chat")
    show(session, qtbot, "twin-gru-attention-short")
    qtbot.waitUntil(lambda: bool(session.reading.source))
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    assert session.reading.current.trace["probabilities"].array[-1].argmax() == (
        session.library.model.tokenizer.end_id
    )  # the translation is complete


def test_what_a_translator_has_read_stays_while_a_model_without_a_source_is_shown(
    session: Session, qtbot: QtBot
) -> None:
    session.reading.set_source("what a translator reads")
    session.reading.set_prefix(STORY)
    show(session, qtbot, "ambiguous-gru-both")
    qtbot.waitUntil(lambda: session.reading.prefix != STORY)
    assert session.reading.source == "what a translator reads"


@pytest.fixture
def own_letters(text_file: Path, tmp_path: Path) -> Path:
    """A run of one's own text that knows every letter, and so can read any example."""
    corpus = load_corpus(text_file, documents="line", tokenizer="characters")
    return train("gru", corpus, tmp_path / "letters", steps=1, batch=2, length=8, width=4).folder


def test_a_model_of_ones_own_text_begins_with_an_example_of_it_and_not_of_the_sample(
    session: Session, own_letters: Path, text_file: Path, qtbot: QtBot
) -> None:
    first = load_first_screen()
    session.show_stored(first.model, first.trace)
    sample = session.reading.prefix
    show(session, qtbot, str(own_letters))
    qtbot.waitUntil(lambda: session.reading.prefix != sample)
    assert session.reading.prefix in text_file.read_text(encoding="utf-8")
    session.library.choose(session.library.models[0])
    assert session.reading.prefix == sample


def test_what_a_person_has_typed_stays_for_a_model_of_ones_own_text(
    session: Session, own_letters: Path, qtbot: QtBot
) -> None:
    first = load_first_screen()
    session.show_stored(first.model, first.trace)
    session.reading.set_prefix("the cat")
    show(session, qtbot, str(own_letters))
    qtbot.waitUntil(lambda: not session.work.is_busy("fitting text") and not session.reading.is_busy)
    assert session.reading.prefix == "the cat"


def test_a_text_that_the_model_knows_stays(session: Session, qtbot: QtBot) -> None:
    session.reading.set_prefix(STORY)
    show(session, qtbot, "stories-lstm")
    show(session, qtbot, "stories-gru")
    qtbot.waitUntil(lambda: not session.work.is_busy("fitting text") and not session.reading.is_busy)
    assert session.reading.prefix == STORY


def test_what_is_typed_meanwhile_is_not_lost(session: Session, qtbot: QtBot) -> None:
    session.reading.set_prefix(STORY)
    show(session, qtbot, "ambiguous-gru-both")
    session.reading.set_prefix("Zanzibar")
    qtbot.waitUntil(lambda: not session.work.is_busy("fitting text") and not session.reading.is_busy)
    assert session.reading.prefix == "Zanzibar"


@pytest.mark.parametrize("name", [entry.name for entry in CATALOGUE if not entry.address])
def test_every_text_of_lmviz_has_a_first_example(name: str) -> None:
    entry = find_entry(name)
    example = first_example([name], CorpusOptions(**entry.options))
    assert example.text.strip() == example.text != ""
    assert bool(example.source) == (entry.task in WITH_SOURCE)
    assert entry.task != "next-token" or len(example.text) <= LONGEST


def test_a_translator_of_ones_own_text_gets_a_pair_of_it(
    session: Session, label_runs: dict[str, Path], answered: Callable[[], None], qtbot: QtBot
) -> None:
    session.reading.set_prefix(STORY)
    run = label_runs["translator"]
    show(session, qtbot, str(run))
    answered()
    assert session.reading.source == "", "nobody has allowed its file to be read"
    session.library.close(session.library.model)
    session.permission.allow([str(run.parent / "translator.txt")])
    show(session, qtbot, str(run))
    qtbot.waitUntil(lambda: bool(session.reading.source))
    assert not unknown(session)
    assert session.reading.prefix != STORY


def test_an_example_is_wanted_of_two_files(session: Session, tmp_path: Path) -> None:
    (tmp_path / "a.en").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (tmp_path / "a.de").write_text("eins\nzwei\ndrei\n", encoding="utf-8")
    example = first_example([str(tmp_path / "a.en")], CorpusOptions(), [str(tmp_path / "a.de")])
    assert (example.source, example.text) in {("one", "eins"), ("two", "zwei"), ("three", "drei")}
