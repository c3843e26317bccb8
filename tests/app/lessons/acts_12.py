"""How the conditions of lesson 12 are brought about."""


def choose_scaled(driver):
    """Choose the scaled products as what is drawn."""
    picker = driver.control("attention_step_picker")
    at = next(place for place in range(picker.count()) if "√d" in picker.itemText(place))
    picker.setCurrentIndex(at)
    picker.activated.emit(at)


ACTS = {'control("attention_step_picker") contains √d': choose_scaled}
