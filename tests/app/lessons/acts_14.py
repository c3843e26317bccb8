"""How the conditions of lesson 14 are brought about."""

ACTS = {
    'pressed("measure_lengths_button") changes': lambda driver: driver.press("measure_lengths_button"),
    'control("milliseconds_plot") = 1': lambda driver: None,  # it is there after a moment
}
