"""How the conditions of lesson 17 are brought about."""


def probed(driver):
    """Press the button of Probe, once there is something to read."""
    driver.press("probe_button")


def pin_the(driver):
    """Click the last “the” of the text."""
    tokens = driver.session.reading.current.trace.tokens
    place = max(at for at, token in enumerate(tokens) if token.strip() == "the")
    driver.control("prefix_tokens").part_clicked.emit(place)


def slide(place):
    """Move the strength of Steer."""
    return lambda driver: driver.control("steer_slider").slider.setValue(place)


def choose_kept(driver):
    """Choose the direction that was kept, once it is on the list."""
    picker = driver.control("steer_direction_picker")
    driver.wait(lambda: picker.findText("probe for position") >= 0)
    picker.setCurrentText("probe for position")
    picker.activated.emit(picker.currentIndex())


ACTS = {
    'control("steer_direction_picker") is probe for position': choose_kept,
    'pressed("keep_probe_direction") changes': lambda driver: driver.press("keep_probe_direction"),
    "pinned": pin_the,
    'drawn("probe_view", "explained", 0) > 0': probed,
    'control("steer_slider") = 40': slide(40),
    'control("steer_slider") = 30': slide(30),
}
