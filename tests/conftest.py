"""What every test stands on: no screen is needed, torch keeps to one thread, and nobody's folders are
written to."""

import gc
import logging
import os
import random
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # where small_models.py lies
# Neither a busy machine nor a folder that all examples share is a defect.
NO_DEFECTS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("lmviz", deadline=None, suppress_health_check=NO_DEFECTS)
settings.load_profile("lmviz")
FEWEST_EXAMPLES = 10
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["OMP_NUM_THREADS"] = "1"


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is collected while thousands of tests are made: all of them stay."""
    import alarms
    import collecting
    import leaving_out
    from compiling import compile_a_share
    from costs import Costs

    compile_a_share(config)
    config.pluginmanager.register(Costs())
    config.pluginmanager.register(leaving_out)
    gc.disable()  # and for good: see `_collected_between_tests`
    collecting.watch()
    alarms.install()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A check of everything takes a third of the examples; each file alone, and the nightly run, take all."""
    if "PYTEST_XDIST_WORKER" in os.environ and "hypothesis" not in config.option.markexpr:
        for test in {item.obj for item in items if isinstance(item, pytest.Function)}:
            wanted = getattr(test, "_hypothesis_internal_use_settings", None)
            if wanted is not None:
                fewer = max(wanted.max_examples // 3, min(wanted.max_examples, FEWEST_EXAMPLES))
                test._hypothesis_internal_use_settings = settings(wanted, max_examples=fewer)


def pytest_collection_finish() -> None:
    """Collections pass over what stays until the end."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _collected_between_tests():
    """Python's collector runs between tests and where it is called, and never by chance.

    In a thread of one test it would destroy what the windows of another have left: Qt crashes, now or later.
    """
    import collecting

    assert not gc.isenabled(), "a test or a library has switched the collector on"
    yield
    collecting.collect_what_is_much()
    found = collecting.take_found()
    assert not found, f"Python's collector ran in another thread than the window's: {found}"


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory):
    """Settings, data and caches of the tests lie in a folder of theirs."""
    folder = tmp_path_factory.mktemp("home")
    _share_own_texts(folder / "data", tmp_path_factory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMVIZ_DATA", str(folder / "data"))
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(folder / kind.lower()))
        yield


def _share_own_texts(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The texts that lmviz generates are generated once, and not by every worker."""
    data.mkdir()
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker and os.name != "nt":  # there a link needs a right of its own
        shared = tmp_path_factory.getbasetemp().parent / "corpora"
        shared.mkdir(exist_ok=True)
        (data / "corpora").symlink_to(shared)


class _Unexpected(logging.Handler):
    """What readers of files did not think of, since it was last looked at."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "unexpected of a file" in record.msg:
            self.said.append(record.getMessage())


_unexpected = _Unexpected()


@pytest.fixture(scope="session", autouse=True)
def _listening():
    logging.getLogger("lmviz").addHandler(_unexpected)


@pytest.fixture(autouse=True)
def _nothing_unexpected(request: pytest.FixtureRequest):
    """No file, shipped or damaged, makes a reader raise what it did not think of, except to see that."""
    _unexpected.said.clear()
    yield
    if request.node.get_closest_marker("brings_to_light") is None:
        assert not _unexpected.said, _unexpected.said[0]


@pytest.fixture(scope="session", autouse=True)
def _no_wait_for_the_disk():
    """What a killed process has written is there without it, and no test cuts the power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def small_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two hundred short sentences, one a line."""
    chance = random.Random(0)
    lines = [
        f"The {chance.choice(('cow', 'bat', 'dog'))} {chance.choice(('eats', 'likes', 'sees'))} "
        f"{chance.choice(('corn', 'grass', 'hay'))}."
        for _ in range(200)
    ]
    path = tmp_path_factory.mktemp("text") / "small.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
