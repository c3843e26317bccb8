"""How the conditions of lesson 16 are brought about."""

from PySide6.QtWidgets import QSpinBox


def run(driver):
    """Let the lanes train to their end."""
    if not driver.session.race.is_active:
        driver.press("race_all_button")
    driver.wait(lambda: not driver.session.race.is_active, "the race does not end")


def fork(driver):
    driver.press("forking_tab")
    race = driver.session.race
    driver.wait(lambda: race.opened(race.lanes[0]) is not None, "the lane is not open")
    driver.wait(lambda: race.opened(race.lanes[0]).snapshots[-1] == 200, "it is not at its end")
    spin = driver.control("fork_step_spin")
    assert isinstance(spin, QSpinBox)
    spin.setValue(100)
    driver.type("fork_value_edit", "0.015")
    driver.press("fork_button")


ACTS = {
    "race is ended": run,
    "lanes = 4": lambda driver: driver.press("add_values_button"),
    "lanes = 2": fork,
}
