"""Two widgets stand beside each other as long as there is width."""

from PySide6.QtWidgets import QLabel

from lmviz.app.widgets.base.beside import Beside


def test_the_second_goes_below_where_it_is_narrow(shown):
    first, second = QLabel("first"), QLabel("second")
    pair = shown(Beside(first, second), 600, 200)
    assert first.y() == second.y()
    assert first.x() < second.x()
    pair.resize(240, 200)
    pair.layout().activate()
    assert first.x() == second.x()
    assert second.y() > first.y()
