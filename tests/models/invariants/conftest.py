"""What the tests of this folder share: the model of a case."""

import pytest
from family_cases import trained


@pytest.fixture
def model(family, options):
    return trained(family, tuple(options.items()))
