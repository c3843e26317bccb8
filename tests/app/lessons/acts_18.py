"""How the conditions of lesson 18 are brought about."""

from tests.app.lessons.acts_17 import choose


def choose_the_feature(driver):
    """Click the row of feature 443 in the list, once it stands there."""
    table = driver.control("features_list")
    panel = next(panel for panel in driver.window.perspective.panels if panel.objectName() == "features_view")
    driver.wait(lambda: 443 in panel.listed, "the feature is not on the list")
    table.row_clicked.emit(panel.listed.index(443))


def turn(place):
    """Move the strength, once the feature has been turned."""

    def move(driver):
        driver.wait(lambda: driver.control("feature_turn_view").found is not None, "nothing is turned")
        driver.control("feature_slider").slider.setValue(place)

    return move


ACTS = {
    "feature = 443": choose_the_feature,
    'control("features_picker") is on at this token': lambda driver: choose(
        driver, "features_picker", "on at this token"
    ),
    'control("feature_bill_picker") is all feed-forward layers': lambda driver: choose(
        driver, "feature_bill_picker", "all feed-forward layers"
    ),
    'control("matched_picker") is second-seed-after-layer-2': lambda driver: choose(
        driver, "matched_picker", "second-seed-after-layer-2"
    ),
    'control("feature_slider") = 4': turn(4),
    'control("feature_slider") = 0': turn(0),
    'drawn("staying_view", "probe_lasts", 0) > 0': lambda driver: driver.press("remembered_button"),
    'drawn("feature_bill_view", "errors_alone", 0) > 0': lambda driver: None,
    'drawn("matched_view", "nearly_same", 0) >= 0': lambda driver: None,
}
