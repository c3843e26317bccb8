from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.text.examples_view import ExamplesView, ShownExample

EXAMPLES = [
    ShownExample(("time", "flies"), ("n", "a-much-longer-tag")),
    ShownExample(("like", "an", "arrow"), ("p", "d", "n")),
]


def shown(qtbot: QtBot, examples: list[ShownExample], width: int = 400) -> ExamplesView:
    view = ExamplesView()
    qtbot.addWidget(view)
    view.set_examples(examples)
    view.resize(width, max(40, view.heightForWidth(width)))
    view.show()
    return view


def test_words_are_clicked_and_counted_over_all_examples(qtbot: QtBot) -> None:
    view = shown(qtbot, EXAMPLES)
    for index in range(5):
        place = view.part_rectangle(index).center().toPoint()
        with qtbot.waitSignal(view.part_clicked) as clicked:
            qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place)
        assert clicked.args == [index]
    below = view.rect().bottomRight()
    assert view.index_at(below.toPointF()) == -1


def test_arrows_go_from_word_to_word(qtbot: QtBot) -> None:
    view = shown(qtbot, EXAMPLES)
    view.set_current(1)
    went = []
    view.part_clicked.connect(went.append)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Left):
        qtbot.keyClick(view, key)
    assert went == [2, 1, 0, 0]


def test_a_word_has_room_for_its_tag(qtbot: QtBot) -> None:
    view = shown(qtbot, EXAMPLES)
    assert view.part_rectangle(1).width() > 2 * view.part_rectangle(0).width()
    assert view.part_rectangle(2).top() > view.part_rectangle(0).bottom() + view.part_rectangle(0).height()


def test_labels_and_targets_stand_beside_the_words(qtbot: QtBot) -> None:
    plain = shown(qtbot, [ShownExample(("a", "b"))])
    labelled = shown(qtbot, [ShownExample(("a", "b"), label="good")])
    assert labelled.part_rectangle(0).left() > plain.part_rectangle(0).left()
    words = tuple("abcdefghijkl")
    alone, paired = (
        shown(qtbot, [ShownExample(words)], 300),
        shown(qtbot, [ShownExample(words, target=words)], 300),
    )
    assert paired.heightForWidth(300) > alone.heightForWidth(300)
    assert max(paired.part_rectangle(n).right() for n in range(len(words))) < 150


def test_no_examples_take_no_room(qtbot: QtBot) -> None:
    view = shown(qtbot, [])
    assert view.heightForWidth(300) == 0
    qtbot.keyClick(view, Qt.Key.Key_Right)


def test_words_stand_behind_the_picture_they_describe(qtbot: QtBot) -> None:
    words, tags = ("a", "cross"), ("cross", "END")
    plain = shown(qtbot, [ShownExample(words, tags)])
    pixels = tuple(index % 3 == 0 for index in range(49))
    pictured = shown(qtbot, [ShownExample(words, tags, pixels=pixels)])
    assert pictured.part_rectangle(0).left() > plain.part_rectangle(0).left() + 49
    assert pictured.heightForWidth(400) > plain.heightForWidth(400)
    assert pictured.index_at(pictured.part_rectangle(1).center()) == 1
    colors = pictured.grab().toImage()
    first, second = (colors.pixelColor(10 * place + 5, 5) for place in (0, 1))
    assert first.lightness() < second.lightness()  # in the light theme what is painted is dark


def test_the_pixels_of_a_source_are_found_in_its_picture(qtbot: QtBot) -> None:
    pixels = (True,) + (False,) * 48
    view = shown(qtbot, [ShownExample(tuple("." * 49), target=("a", "dot"), pixels=pixels)] * 2)
    first, across, below = (view.part_rectangle(index) for index in (0, 1, 7))
    assert across.left() > first.left()
    assert below.top() > first.top()
    assert view.part_rectangle(49).top() > view.part_rectangle(48).bottom()
