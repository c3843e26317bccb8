import ast
import inspect
import threading
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.part import Part
from lmviz.app.session.session import Session
from lmviz.inspection.intervention import Intervention
from lmviz.training.run import Run


def test_no_part_of_the_session_knows_everything(session: Session) -> None:
    for kind in (Session, *map(type, session.findChildren(Part))):
        offered = [name for name in vars(kind) if not name.startswith("_") and name != "staticMetaObject"]
        assert len(offered) <= 25, f"{kind.__name__} has {len(offered)} public members: {offered}"


def test_parts_reach_into_no_other_part() -> None:
    """A private name is used on `self` alone, or on another value of the same file."""
    folder = Path(inspect.getfile(Session)).parent
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {part.attr for part in ast.walk(tree) if isinstance(part, ast.Attribute) and _is_self(part)}
        own |= {part.name for part in ast.walk(tree) if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
        for part in ast.walk(tree):
            if isinstance(part, ast.Attribute) and part.attr.startswith("_") and not _is_self(part):
                assert part.attr in own, f"{path.name} uses {ast.unparse(part)}"


def _is_self(part: ast.Attribute) -> bool:
    return isinstance(part.value, ast.Name) and part.value.id == "self"


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
    from lmviz.api import open_model
    from lmviz.questions import trace

    for step in (0, 3, 6):
        wanted = trace(open_model(lstm_run, step), "the cows eat")
        read.library.choose_step(step)
        qtbot.waitUntil(lambda step=step: read.reading.current.step == step)
        np.testing.assert_array_equal(read.reading.current.trace["logits"].array, wanted["logits"].array)


def test_a_step_between_snapshots_goes_to_the_nearest(read: Session) -> None:
    read.library.choose_step(100)
    assert read.library.step == 6
    read.library.choose_step(-5)
    assert read.library.step == 0


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
    assert {model.color_index for model in read.library.models} == {0, 1}


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


def test_what_cannot_be_opened_is_said_in_a_sentence(session: Session, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "run.json").write_bytes(b"\xff\x00")
    with qtbot.waitSignal(session.library.failed) as caught:
        session.library.open(tmp_path)
    assert "choose another run" in caught.args[0]
    with qtbot.waitSignal(session.text.failed) as caught:
        session.text.open(tmp_path / "nothing.txt")
    assert "nothing.txt" in caught.args[0]


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


def test_closing_the_last_model_leaves_nothing_to_read(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.reading.changed):
        read.library.close(read.library.model)
    assert read.library.model is None
    assert read.reading.current is None
    assert read.library.models == ()


def test_nobody_is_told_of_a_model_that_has_been_closed(
    read: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(read.library.model_changed, timeout=10_000):
        read.library.open(transformer_run)
    closing = read.library.model
    read.comparison.choose([(model, 0) for model in read.library.models])
    met = []
    for changed in (
        read.library.model_changed,
        read.comparison.choice_changed,
        read.library.models_changed,
        read.library.step_changed,
    ):
        changed.connect(
            lambda: met.extend([read.library.model, *(model for model, _ in read.comparison.chosen)])
        )
    read.library.close(closing)
    assert closing not in met
    assert len(met) >= 3


def test_work_asked_for_gets_the_model_as_it_is_shown(read: Session, qtbot: QtBot) -> None:
    heard: list[int] = []
    read.library.choose_step(3)
    read.reading.ask("size", lambda model: model.step, heard.append, pytest.fail)
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [3]


def test_all_compared_moments_are_answered_together(read: Session, qtbot: QtBot) -> None:
    heard: list[list[int]] = []
    read.comparison.choose([(read.library.model, 0), (read.library.model, 6), (read.library.model, 1)])
    compared = [ComparedModel(moment) for moment in read.comparison.chosen]
    read.comparison.ask(compared, "steps", lambda model, place: model.step, heard.append, pytest.fail)
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [[0, 6, 1]]


def test_a_newer_corpus_silences_the_one_that_is_still_being_read(
    session: Session, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    slow = tmp_path / "slow.txt"
    slow.write_text("a b c d e f g h\n" * 200_000, encoding="utf-8")
    names: list[str] = []
    session.text.changed.connect(lambda: names.append(session.text.corpus.name))
    finished: list[object] = []
    session.work.job_finished.connect(finished.append)
    session.text.open(slow, documents="line")
    session.text.open(text_file, documents="line")
    qtbot.waitUntil(lambda: len(finished) == 2)
    assert names == ["farm"]


def test_a_corpus_that_was_overtaken_does_not_end_the_reading_of_the_newer_one(
    session: Session, gate: threading.Event, text_file: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmviz.text import corpus

    gates, whole = {"older": threading.Event(), "newer": gate}, corpus.load_corpus(text_file)
    monkeypatch.setattr(corpus, "load_corpus", lambda source, **_: gates[source].wait() and whole)
    said: list[str] = []
    session.training.failed.connect(said.append)
    session.text.open("older")
    session.text.open("newer")
    with qtbot.waitSignal(session.work.job_finished):
        gates["older"].set()
    session.training.start()
    assert "still being read" in said[-1]
    with qtbot.waitSignal(session.text.changed):
        gate.set()


def test_a_place_beyond_the_text_is_its_last(session: Session, text_file: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file)
    session.text.choose_place(10**9)
    assert session.text.place == len(session.text.corpus.training) - 1
    session.text.choose_place(-3)
    assert session.text.place == 0


def test_a_cancelled_job_is_under_way_no_more(session: Session, gate: threading.Event, qtbot: QtBot) -> None:
    job = session.work.start_job("slow", lambda report: gate.wait(), print, pytest.fail)
    assert session.work.jobs == (job,)
    with qtbot.waitSignal(session.work.job_finished):
        job.cancel()
        assert session.work.jobs == ()
        gate.set()


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


def test_a_color_that_became_free_is_given_to_the_next_model(
    read: Session, lstm_run: Path, transformer_run: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(read.library.model_changed, timeout=10_000):
        read.library.open(transformer_run)
    read.library.close(read.library.models[0])
    with qtbot.waitSignal(read.library.model_changed, timeout=10_000):
        read.library.open(lstm_run)
    assert [model.color_index for model in read.library.models] == [1, 0]
