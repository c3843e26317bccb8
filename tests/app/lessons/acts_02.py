"""How the conditions of lesson 2 are brought about."""

ACTS = {
    "rolls = 0": lambda driver: driver.press("sample_back_button"),
}
