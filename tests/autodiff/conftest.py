"""Networks that several tests ask about."""

import pytest

from lmviz.autodiff import Network, read, shipped_network


@pytest.fixture
def lecture() -> Network:
    """The net of the lecture, forward and backward."""
    return read(shipped_network("lecture").text).backward()
