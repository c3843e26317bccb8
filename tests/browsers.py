"""A browser without a network, for tests of pages; where there is none, they are skipped, and say so."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SIZES = {"screen": (1280, 800), "phone": (390, 844)}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def browser() -> Iterator:
    """Chromium of this machine, driven by playwright."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("There is no Chromium on this machine: apt-get install chromium.")
    with api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


class Opened:
    """One page in a window of a size: what it asked of a network and said on the console is kept."""

    def __init__(self, running, path, size: str = "screen", scheme: str = "light") -> None:
        width, height = SIZES[size]
        context = running.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            offline=True,
            has_touch=size == "phone",
        )
        self.page = context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: self.messages.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("footer")

    def readout(self, within: str) -> str:
        """What the pointer brings in a part."""
        return self.page.locator(f"{within} .readout").first.inner_text()

    def close(self) -> None:
        self.page.context.close()
