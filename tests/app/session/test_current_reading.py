"""The prefix, and what the shown model computes for it."""

import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session import current_reading, work
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import ReadingQuestion
from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.text.corpus import load_corpus
from lmviz.text.tokenizer import LONG, Encoding, Tokenizer
from lmviz.training.run import Run


def test_looking_ahead_does_not_turn_attention_around(read: Session, qtbot: QtBot) -> None:
    read.writing.look_ahead()
    assert read.attention.looked_at is False
    qtbot.waitUntil(lambda: read.writing.prospect is not None)
    assert read.attention.looked_at is False


def test_a_typed_prefix_becomes_a_reading(read: Session) -> None:
    reading = read.reading.current
    assert reading.trace.tokens == read.reading.encoding.tokens == ("⟨start⟩", "the", "cows", "eat")
    assert reading.model == read.library.model
    assert reading.step == read.library.model.snapshots[-1] == 6
    assert reading.baseline is None
    np.testing.assert_allclose(reading.trace["probabilities"].array.sum(-1), 1, rtol=1e-4)


def test_fast_typing_ends_with_the_reading_of_the_last_text(read: Session, qtbot: QtBot) -> None:
    texts = []
    read.reading.changed.connect(lambda: texts.append(read.reading.current.trace.text))
    typed = "the dog sees the cows"
    for end in range(1, len(typed) + 1):
        read.reading.set_prefix(typed[:end])
    qtbot.waitUntil(lambda: not read.reading.is_busy)
    assert texts[-1] == typed


def test_unknown_words_are_told_apart(read: Session) -> None:
    read.reading.set_prefix("the zebra eats")
    assert read.reading.encoding.unknown == (False, False, True, True)


def test_scrubbing_reads_the_model_as_it_was(read: Session, lstm_run: Path, qtbot: QtBot) -> None:
    from lmviz.api.questions import trace
    from lmviz.api.training import open_model

    for step in (0, 3, 6):
        wanted = trace(open_model(lstm_run, step), "the cows eat")
        read.library.choose_step(step)
        qtbot.waitUntil(lambda step=step: read.reading.current.step == step)
        np.testing.assert_array_equal(read.reading.current.trace["logits"].array, wanted["logits"].array)


def test_large_answers_that_nobody_looks_at_are_not_made(
    read: Session, lstm_run: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmviz.api.questions import trace
    from lmviz.api.training import open_model
    from lmviz.inspection import later_rows

    monkeypatch.setattr(later_rows, "FEWEST", 0)
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the dog sees the cows")
    found = read.reading.current.trace["logits"]
    assert found.is_deferred
    read.library.choose_step(0)
    qtbot.waitUntil(lambda: read.reading.current.step == 0)
    wanted = trace(open_model(lstm_run, 6), "the dog sees the cows")["logits"]
    np.testing.assert_allclose(found.array, wanted.array, rtol=1e-4, atol=1e-6)


def test_interventions_are_read_beside_a_baseline(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.reading.changed):
        read.surgery.add(Intervention("layers/0/hidden", "scale", 0.0))
    assert not read.reading.current.trace["layers/0/hidden"].array.any()
    assert read.reading.current.baseline["layers/0/hidden"].array.any()
    with qtbot.waitSignal(read.reading.changed):
        read.surgery.toggle(0)
    assert read.reading.current.baseline is None


def test_another_model_leaves_the_interventions_behind(
    read: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    read.surgery.add(Intervention("layers/0/hidden", "scale", 0.0))
    with qtbot.waitSignal(read.library.model_changed, timeout=10_000):
        read.library.open(transformer_run)
    assert read.surgery.interventions == ()
    assert len(read.library.models) == 2
    assert len({model.color_index for model in read.library.models}) == 2


def test_a_prefix_beyond_the_context_is_read_from_where_the_model_can_see(
    session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=20_000)
    session.reading.set_prefix("the cows eat grass the hens eat corn the dog sees")
    qtbot.waitUntil(
        lambda: (
            session.reading.current is not None
            and session.reading.current.trace.text == session.reading.prefix
        ),
        timeout=20_000,
    )
    assert session.reading.dropped == 4
    assert session.reading.current.trace.tokens == session.reading.encoding.tokens
    first, last = session.reading.encoding.offsets[0]
    assert session.reading.prefix[first:last] == session.reading.encoding.tokens[0] == "grass"


def test_a_pinned_cell_goes_when_the_trace_has_it_no_more(read: Session, qtbot: QtBot) -> None:
    read.focus.choose_cell(("layers/0/hidden", (3, 7)))
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("the cows eat corn")
    assert read.focus.cell == ("layers/0/hidden", (3, 7))
    with qtbot.waitSignal(read.focus.cell_changed):
        read.reading.set_prefix("the")
    assert read.focus.cell is None


def test_an_empty_prefix_is_read_where_documents_have_a_beginning(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.reading.changed):
        read.reading.set_prefix("")
    assert read.reading.current.trace.tokens == ("⟨start⟩",)


def test_a_snapshot_that_has_gone_is_said_in_a_sentence(
    session: Session, make_run: object, qtbot: QtBot
) -> None:
    folder = make_run("rnn", 3, width=4)
    session.library.open(folder)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=20_000)
    Run.open(folder).snapshot_path(0).unlink()
    session.reading.set_prefix("the")
    with qtbot.waitSignal(session.reading.failed):
        session.library.choose_step(0)
    assert session.reading.current is None or session.reading.current.step != 0


def test_typing_what_stands_there_already_is_no_change(read: Session) -> None:
    told: list[str] = []
    read.reading.prefix_changed.connect(lambda: told.append(read.reading.prefix))
    read.reading.set_prefix(read.reading.prefix)
    assert told == []


def test_nothing_read_before_and_after_is_no_news(session: Session, qtbot: QtBot) -> None:
    told: list[object] = []
    session.reading.changed.connect(lambda: told.append(session.reading.current))
    session.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: not session.reading.is_busy)
    assert told == []


def test_the_position_of_a_reading_lies_within_it_while_a_longer_text_is_read(read: Session) -> None:
    last = len(read.reading.current.trace.tokens) - 1
    read.reading.set_prefix("the cows eat grass the hens eat corn")
    assert read.focus.shown_position > last
    assert read.reading.position == last


def test_a_reading_on_its_way_never_arrives_when_its_model_was_closed(
    read: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    done: list[bool] = []
    read.work.ask("gate", gate.wait, print, pytest.fail)
    read.reading.set_prefix("the cows eat corn")
    with qtbot.waitSignal(read.reading.changed):
        read.library.close(read.library.model)
    read.work.ask("done", lambda: True, done.append, pytest.fail)
    gate.set()
    qtbot.waitUntil(lambda: bool(done))
    assert read.reading.current is None


def test_going_back_from_a_source_may_lead_to_none(
    session: Session, translator_run: Path, qtbot: QtBot
) -> None:
    session.library.open(translator_run)
    session.reading.set_prefix("voiture")
    qtbot.waitUntil(lambda: session.reading.current is not None and not session.reading.is_busy)
    session.reading.set_source("red car")
    assert session.reading.can_go_back
    session.reading.go_back()
    assert session.reading.source == ""
    assert not session.reading.can_go_back


def test_a_long_text_that_takes_long_to_be_cut_into_tokens_holds_no_window(
    read: Session, qtbot: QtBot, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode, cut = Tokenizer.encode_prefix, list[str]()

    def slowly(tokenizer: Tokenizer, text: str) -> Encoding:
        if text.startswith("slow"):
            cut.append(threading.current_thread().name)
            gate.wait()
        return encode(tokenizer, text)

    monkeypatch.setattr(Tokenizer, "encode_prefix", slowly)
    monkeypatch.setattr(work, "BRIEFLY", 0.01)
    read.focus.choose_position(1)
    slow, other = "slow" + " " * 3000 + "cows", "the cows" + " the dog" * 500
    read.reading.set_prefix(slow)
    qtbot.waitUntil(lambda: bool(cut))
    assert threading.main_thread().name not in cut
    assert read.reading.encoding is None
    read.reading.set_prefix(other)  # whoever types on does not wait for it
    qtbot.waitUntil(lambda: read.reading.current is not None and read.reading.current.question.text == other)
    read.reading.set_prefix(slow)
    gate.set()
    qtbot.waitUntil(lambda: not read.work.jobs)
    qtbot.waitUntil(lambda: read.reading.current is not None and read.reading.current.question.text == slow)
    assert read.reading.encoding.tokens[-1] == "cows"


def test_a_long_text_that_is_cut_at_once_keeps_its_place(read: Session, qtbot: QtBot) -> None:
    text = "the cows eat" + " the dog" * 400
    told: list[int] = []
    read.focus.choose_position(2)
    read.reading.encoding_changed.connect(lambda: told.append(len(read.reading.encoding or ())))
    read.reading.set_prefix(text)
    assert set(told) == {len(read.reading.encoding)}, "it was never without tokens"
    assert read.focus.position == 2


def test_a_long_text_has_the_tokens_that_its_lines_have() -> None:
    tokenizer = load_corpus("stories").tokenizer
    line = "Maya put the brown stone in the barrel.\n"
    once, often = tokenizer.encode_inside(line), tokenizer.encode_inside(line * 100)
    assert len(line) < LONG < 100 * len(line)
    assert often.tokens == once.tokens * 100
    assert often.offsets[-1][1] == len(line) * 100 - (len(line) - once.offsets[-1][1])


def test_a_tokenizer_that_gives_up_on_a_short_text_says_so_and_reads_the_next(
    session: Session, transformer_run: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    session.library.open(transformer_run)
    qtbot.waitUntil(lambda: session.library.model is not None)
    encode = Tokenizer.encode_prefix

    def give_up(self: Tokenizer, text: str) -> Encoding:
        if text.endswith("!"):
            raise LmvizError("The tokenizer cannot do that (it backtracks): choose another one.")
        return encode(self, text)

    monkeypatch.setattr(Tokenizer, "encode_prefix", give_up)
    said: list[str] = []
    session.reading.failed.connect(said.append)
    session.reading.set_prefix("the cows!")
    assert said == ["The tokenizer cannot do that (it backtracks): choose another one."]
    assert session.reading.encoding is None
    session.reading.set_prefix("the cows")
    assert len(session.reading.encoding) > 1


def test_a_model_and_a_prefix_that_change_in_one_turn_are_read_once(
    session: Session, read: Session, transformer_run: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    opened: list[OpenedModel] = []
    session.library.open_beside(transformer_run, opened.append)
    qtbot.waitUntil(lambda: bool(opened) and not session.reading.is_busy)
    asked: list[str] = []
    ask = session.work.ask

    def note(key: str, *given: Any) -> None:
        asked.append(key)
        ask(key, *given)

    monkeypatch.setattr(session.work, "ask", note)
    before = session.library.model
    assert before is not None
    for model, text in ((opened[0], "the hens"), (before, "the hens")):
        asked.clear()
        session.library.choose(model)
        session.reading.set_prefix(text)
        assert asked.count("reading") == 1, "at once, while the window still has to be drawn"
        qtbot.waitUntil(lambda: not session.reading.is_late and not session.reading.is_busy)
        assert session.reading.current is not None
        assert session.reading.current.model == model
        assert session.reading.current.trace.text == text
        assert asked.count("reading") == 1


def test_a_question_is_put_once_until_something_else_is_asked(
    read: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    put: list[str] = []

    def counted(*parts: Any) -> ReadingQuestion:
        put.append(parts[2])
        return ReadingQuestion(*parts)

    monkeypatch.setattr(current_reading, "ReadingQuestion", counted)
    reading = read.reading
    with qtbot.waitSignal(reading.changed):
        reading.set_prefix("the dog sees")
    assert put == ["the dog sees"]
    assert reading.question is reading.current.question
    assert not reading.is_late


def test_whatever_a_reading_depends_on_makes_its_question_another(read: Session) -> None:
    reading = read.reading
    change = Intervention("layers/0/hidden", "scale", 0.0, {"position": 1})
    asked = [reading.question]
    for alter in (
        lambda: reading.set_prefix("the dog sees"),
        lambda: read.library.choose_step(0),
        lambda: read.surgery.add(change),
        lambda: read.surgery.set_off(True),
        lambda: read.library.spell_out(True),
    ):
        alter()
        asked.append(reading.question)
    for before, now in pairwise(asked):
        assert now != before
    assert asked[3].interventions[0].address == change.address
    assert not asked[4].interventions
    assert asked[5].model.spells_out
