"""How the conditions of lesson 1 are brought about."""


def ascend(driver):
    """Let the shares of the words go to their counts; what is typed last is counted a moment later."""
    simplex = driver.control("simplex_view")
    for _ in range(5):
        driver.press("simplex_ascend_button")
        driver.wait(lambda: not simplex.is_ascending)
        if "16.15" in driver.control("simplex_likelihood").text():
            return


ACTS = {'control("simplex_likelihood") contains 16.15': ascend}
