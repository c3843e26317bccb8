"""How the conditions of lesson 17 are brought about."""

from in_sight import all_have_drawn


def choose(driver, name, words):
    """Choose from a list, once what is chosen stands there, and wait until that is drawn."""
    picker = driver.control(name)
    driver.wait(lambda: picker.findText(words) >= 0, f"{words} is not on the list")
    picker.setCurrentText(words)
    picker.activated.emit(picker.currentIndex())
    driver.wait(lambda: all_have_drawn(driver.window.perspective))


def pin_the(driver):
    """Click the last “the” of the text."""
    tokens = driver.session.reading.current.trace.tokens
    place = max(at for at, token in enumerate(tokens) if token.strip() == "the")
    driver.control("prefix_tokens").part_clicked.emit(place)


def slide(place):
    """Move the strength of Steer, once it steers."""

    def move(driver):
        driver.wait(lambda: driver.control("steer_view").found is not None, "nothing is steered")
        driver.control("steer_slider").slider.setValue(place)

    return move


ACTS = {
    'control("probe_kind_picker") is position': lambda driver: choose(
        driver, "probe_kind_picker", "position"
    ),
    'control("steer_direction_picker") is probe for position': lambda driver: choose(
        driver, "steer_direction_picker", "probe for position"
    ),
    'control("steer_direction_picker") is between the two texts': lambda driver: choose(
        driver, "steer_direction_picker", "between the two texts"
    ),
    'pressed("keep_probe_direction") changes': lambda driver: driver.press("keep_probe_direction"),
    "pinned": pin_the,
    'drawn("probe_view", "explained", 0) > 0': lambda driver: driver.press("probe_button"),
    'control("steer_how_picker") is remove': lambda driver: choose(driver, "steer_how_picker", "remove"),
    'control("steer_how_picker") is add': lambda driver: choose(driver, "steer_how_picker", "add"),
    'control("steer_slider") = 30': slide(30),
    'control("steer_slider") = 20': slide(20),
}
