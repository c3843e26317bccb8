"""How the conditions of lesson 14 are brought about."""

ACTS = {'control("milliseconds_plot") = 1': lambda driver: driver.press("measure_lengths_button")}
