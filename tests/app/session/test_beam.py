"""A beam search of the session, in the reading thread."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError
from lmviz.decoding.beam import BeamTree, grow_beam


@pytest.mark.parametrize("deepest", [-1, 0, 1])
def test_a_step_that_failed_is_made_when_it_is_asked_again(
    deepest: int, read: Session, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    def fail_later(*given: object) -> Iterator[BeamTree]:
        for tree in grow_beam(*given):
            if tree.depth > deepest:
                break
            yield tree
        raise LmvizError("It cannot be searched.")

    beam = read.beam
    with monkeypatch.context() as patch:
        patch.setattr("lmviz.decoding.beam.grow_beam", fail_later)
        for _ in range(deepest):
            with qtbot.waitSignal(beam.changed):
                beam.grow()
        with qtbot.waitSignal(beam.failed) as failed:
            beam.grow()
    assert failed.args == ["It cannot be searched."]
    with qtbot.assertNotEmitted(read.work.any_failed), qtbot.waitSignal(beam.changed):
        beam.grow()
    assert beam.tree.depth == max(deepest, 0) + 1
