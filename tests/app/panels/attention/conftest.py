"""Where the tests of this folder begin."""

import pytest


@pytest.fixture
def first_perspective() -> str:
    """The window begins where these panels are."""
    return "attention"
