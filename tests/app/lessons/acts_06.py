"""How the conditions of lesson 6 are brought about."""

from PySide6.QtCore import Qt


def play(driver):
    """Begin the game, and choose the first passage."""
    driver.press("real_play_button")
    passage = driver.control("real_first")
    driver.wait(lambda: passage.text != "")
    driver.qtbot.mouseClick(passage, Qt.MouseButton.LeftButton)


ACTS = {'control("real_verdict") contains you': play}
