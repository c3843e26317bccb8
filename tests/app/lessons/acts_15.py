"""How the conditions of lesson 15 are brought about."""

from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.matrix.mosaic import HeadMosaic


def click(driver, name, row, column):
    """Click a cell of a map, once it is there; rows are counted from the top."""
    driver.wait(lambda: driver.control(name).isVisible())
    found = driver.control(name)
    assert isinstance(found, HeatmapView)
    found.cell_clicked.emit(row, column)


def pin(driver):
    """Click the state of “map” after layer 1, once all states were carried over."""
    driver.wait(lambda: driver.control("patching_view").is_whole)
    click(driver, "patching_grid", 1, 4)


def switch_off(driver):
    """Click head 2·3 in the grid of heads, and press what then stands above it."""
    picker = driver.control("carry_picker")
    picker.setCurrentText("head")
    picker.activated.emit(picker.currentIndex())
    panel = driver.control("patching_view")
    driver.wait(lambda: panel.is_whole and panel.patches.array.shape == (2, 4))
    click(driver, "patching_grid", 0, 2)
    driver.press("switch_head_off")


def choose_head(driver):
    """Choose head 1·4 among the thumbnails of Attention."""
    driver.control("heads_view").findChild(HeadMosaic).head_clicked.emit(0, 3)


ACTS = {
    "pinned": pin,
    "changes = 1": switch_off,
    "chosen_head is layer 2, head 3": lambda driver: driver.control("heads_curves").part_clicked.emit(6),
    "chosen_head is layer 1, head 4": choose_head,
}
