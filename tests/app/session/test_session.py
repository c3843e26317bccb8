import ast
import inspect
import textwrap
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.inspection.intervention import Intervention
from lmviz.training.run import Run


def kept_by(layer: type) -> set[str]:
    """The private names that a class defines, and those under which its beginning keeps something."""
    defined = {name for name in vars(layer) if name.startswith("_") and not name.startswith("__")}
    beginning = vars(layer).get("__init__")
    if beginning is None:
        return defined
    stored = (
        part.attr
        for part in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(beginning))))
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
    )
    return defined | set(stored)


def test_no_two_layers_of_the_session_use_one_private_name() -> None:
    layers = [kind for kind in Session.__mro__ if kind.__module__.startswith("lmviz.")]
    names = Counter(name for layer in layers for name in kept_by(layer))
    assert [name for name, count in names.items() if count > 1] == []


def test_looking_ahead_does_not_turn_attention_around(read: Session, qtbot: QtBot) -> None:
    read.look_ahead()
    assert read.looked_at is False
    qtbot.waitUntil(lambda: read.prospect is not None)
    assert read.looked_at is False


def test_a_typed_prefix_becomes_a_reading(read: Session) -> None:
    reading = read.reading
    assert reading.trace.tokens == read.encoding.tokens == ("⟨start⟩", "the", "cows", "eat")
    assert reading.model == read.model
    assert reading.step == read.model.snapshots[-1] == 6
    assert reading.baseline is None
    np.testing.assert_allclose(reading.trace["probabilities"].array.sum(-1), 1, rtol=1e-4)


def test_fast_typing_ends_with_the_reading_of_the_last_text(read: Session, qtbot: QtBot) -> None:
    texts = []
    read.reading_changed.connect(lambda: texts.append(read.reading.trace.text))
    typed = "the dog sees the cows"
    for end in range(1, len(typed) + 1):
        read.set_prefix(typed[:end])
    qtbot.waitUntil(lambda: not read.is_reading)
    assert texts[-1] == typed


def test_unknown_words_are_told_apart(read: Session) -> None:
    read.set_prefix("the zebra eats")
    assert read.encoding.unknown == (False, False, True, True)


def test_scrubbing_reads_the_model_as_it_was(read: Session, lstm_run: Path, qtbot: QtBot) -> None:
    from lmviz.api import open_model, trace

    for step in (0, 3, 6):
        wanted = trace(open_model(lstm_run, step), "the cows eat")
        read.choose_step(step)
        qtbot.waitUntil(lambda step=step: read.reading.step == step)
        np.testing.assert_array_equal(read.reading.trace["logits"].array, wanted["logits"].array)


def test_a_step_between_snapshots_goes_to_the_nearest(read: Session) -> None:
    read.choose_step(100)
    assert read.step == 6
    read.choose_step(-5)
    assert read.step == 0


def test_interventions_are_read_beside_a_baseline(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.reading_changed):
        read.add_intervention(Intervention("layers/0/hidden", "scale", 0.0))
    assert not read.reading.trace["layers/0/hidden"].array.any()
    assert read.reading.baseline["layers/0/hidden"].array.any()
    with qtbot.waitSignal(read.reading_changed):
        read.toggle_intervention(0)
    assert read.reading.baseline is None


def test_another_model_leaves_the_interventions_behind(
    read: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    read.add_intervention(Intervention("layers/0/hidden", "scale", 0.0))
    with qtbot.waitSignal(read.model_changed, timeout=10_000):
        read.open_model(transformer_run)
    assert read.interventions == ()
    assert len(read.models) == 2
    assert {model.color_index for model in read.models} == {0, 1}


def test_a_prefix_beyond_the_context_is_read_from_where_the_model_can_see(
    session: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    session.open_model(transformer_run)
    qtbot.waitUntil(lambda: session.model is not None, timeout=20_000)
    session.set_prefix("the cows eat grass the hens eat corn the dog sees")
    qtbot.waitUntil(
        lambda: session.reading is not None and session.reading.trace.text == session.prefix, timeout=20_000
    )
    assert session.dropped == 4
    assert session.reading.trace.tokens == session.encoding.tokens
    first, last = session.encoding.offsets[0]
    assert session.prefix[first:last] == session.encoding.tokens[0] == "grass"


def test_a_pinned_cell_goes_when_the_trace_has_it_no_more(read: Session, qtbot: QtBot) -> None:
    read.choose_cell(("layers/0/hidden", (3, 7)))
    with qtbot.waitSignal(read.reading_changed):
        read.set_prefix("the cows eat corn")
    assert read.cell == ("layers/0/hidden", (3, 7))
    with qtbot.waitSignal(read.cell_changed):
        read.set_prefix("the")
    assert read.cell is None


def test_an_empty_prefix_is_read_where_documents_have_a_beginning(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.reading_changed):
        read.set_prefix("")
    assert read.reading.trace.tokens == ("⟨start⟩",)


def test_what_cannot_be_opened_is_said_in_a_sentence(session: Session, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "run.json").write_bytes(b"\xff\x00")
    with qtbot.waitSignal(session.failed, timeout=10_000) as caught:
        session.open_model(tmp_path)
    assert caught.args[0] == "model"
    assert "choose another run" in caught.args[1]
    with qtbot.waitSignal(session.failed) as caught:
        session.open_corpus(tmp_path / "nothing.txt")
    assert caught.args[0] == "corpus"


def test_a_snapshot_that_has_gone_is_said_in_a_sentence(
    session: Session, make_run: object, qtbot: QtBot
) -> None:
    folder = make_run("rnn", 3, width=4)
    session.open_model(folder)
    qtbot.waitUntil(lambda: session.model is not None, timeout=20_000)
    Run.open(folder).snapshot_path(0).unlink()
    session.set_prefix("the")
    with qtbot.waitSignal(session.failed):
        session.choose_step(0)
    assert session.reading is None or session.reading.step != 0


def test_closing_the_last_model_leaves_nothing_to_read(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.reading_changed):
        read.close_model(read.model)
    assert read.model is None
    assert read.reading is None
    assert read.models == ()


def test_nobody_is_told_of_a_model_that_has_been_closed(
    read: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(read.model_changed, timeout=10_000):
        read.open_model(transformer_run)
    closing = read.model
    read.compare([(model, 0) for model in read.models])
    met = []
    for changed in (read.model_changed, read.compared_changed, read.models_changed, read.step_changed):
        changed.connect(lambda: met.extend([read.model, *(model for model, _ in read.compared)]))
    read.close_model(closing)
    assert closing not in met
    assert len(met) >= 3


def test_work_asked_for_gets_the_model_as_it_is_shown(read: Session, qtbot: QtBot) -> None:
    heard: list[int] = []
    read.choose_step(3)
    read.ask("size", lambda model: model.step, heard.append)
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [3]


def test_all_compared_moments_are_answered_together(read: Session, qtbot: QtBot) -> None:
    heard: list[list[int]] = []
    read.compare([(read.model, 0), (read.model, 6), (read.model, 1)])
    read.ask_all("steps", read.compared, lambda model: model.step, heard.append)
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [[0, 6, 1]]


def test_a_newer_corpus_silences_the_one_that_is_still_being_read(
    session: Session, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    slow = tmp_path / "slow.txt"
    slow.write_text("a b c d e f g h\n" * 200_000, encoding="utf-8")
    names: list[str] = []
    session.corpus_changed.connect(lambda: names.append(session.corpus.name))
    session.open_corpus(slow, documents="line")
    session.open_corpus(text_file, documents="line")
    qtbot.waitUntil(lambda: not session.jobs and bool(names), timeout=20_000)
    qtbot.wait(50)
    assert names == ["farm"]


def test_a_corpus_that_was_overtaken_does_not_end_the_reading_of_the_newer_one(
    session: Session, gate: threading.Event, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmviz.text import corpus

    gates, whole = {"older": threading.Event(), "newer": gate}, corpus.load_corpus(text_file)
    monkeypatch.setattr(corpus, "load_corpus", lambda source, **_: gates[source].wait() and whole)
    said: list[str] = []
    session.failed.connect(lambda where, sentence: said.append(sentence))
    session.open_corpus("older")
    session.open_corpus("newer")
    with qtbot.waitSignal(session.job_finished):
        gates["older"].set()
    session.train()
    assert "still being read" in said[-1]
    with qtbot.waitSignal(session.corpus_changed):
        gate.set()


def test_a_place_beyond_the_text_is_its_last(session: Session, text_file: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.corpus_changed):
        session.open_corpus(text_file)
    session.choose_place(10**9)
    assert session.place == len(session.corpus.training) - 1
    session.choose_place(-3)
    assert session.place == 0


def test_a_cancelled_job_is_under_way_no_more(session: Session, gate: threading.Event, qtbot: QtBot) -> None:
    job = session.start_reporting_job("slow", lambda report: gate.wait(), print)
    assert session.jobs == (job,)
    with qtbot.waitSignal(session.job_finished):
        job.cancel()
        assert session.jobs == ()
        gate.set()


def test_typing_what_stands_there_already_is_no_change(read: Session) -> None:
    told: list[str] = []
    read.prefix_changed.connect(lambda: told.append(read.prefix))
    read.set_prefix(read.prefix)
    assert told == []


def test_nothing_read_before_and_after_is_no_news(session: Session, qtbot: QtBot) -> None:
    told: list[object] = []
    session.reading_changed.connect(lambda: told.append(session.reading))
    session.set_prefix("the cows")
    qtbot.waitUntil(lambda: not session.is_reading)
    assert told == []


def test_the_position_of_a_reading_lies_within_it_while_a_longer_text_is_read(read: Session) -> None:
    last = len(read.reading.trace.tokens) - 1
    read.set_prefix("the cows eat grass the hens eat corn")
    assert read.shown_position > last
    assert read.reading_position == last


def test_a_reading_on_its_way_never_arrives_when_its_model_was_closed(
    read: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    done: list[bool] = []
    read.ask_reader("gate", gate.wait, print)
    read.set_prefix("the cows eat corn")
    with qtbot.waitSignal(read.reading_changed):
        read.close_model(read.model)
    read.ask_reader("done", lambda: True, done.append)
    gate.set()
    qtbot.waitUntil(lambda: bool(done))
    assert read.reading is None


def test_a_color_that_became_free_is_given_to_the_next_model(
    read: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(read.model_changed, timeout=10_000):
        read.open_model(transformer_run)
    read.close_model(read.models[0])
    with qtbot.waitSignal(read.model_changed, timeout=10_000):
        read.open_model(lstm_run)
    assert [model.color_index for model in read.models] == [1, 0]
