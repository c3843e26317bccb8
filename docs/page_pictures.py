"""Take the pictures of a page for the guide, in Chromium without a network: `python3 start.py page-pictures`.

Chromium has to be installed; the numbers are those of a sample model.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import lmviz

PICTURES = Path(__file__).resolve().parent / "pictures"
TEXT = (
    "Maya owned a brown stone . She put it in the barrel . Later , Maya opened the barrel , "
    "and there lay the brown"
)
SIZES = {"page-light.png": (1100, 1420), "page-phone-light.png": (390, 1500)}
COLORS = 256


def main() -> None:
    """Write the page of a text, and take it at two widths."""
    model = lmviz.open_model("stories-transformer")
    trace = lmviz.trace(model, TEXT)
    lens = lmviz.logit_lens(model, trace)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "page.html"
        lmviz.page([trace, lens], title="After “… and there lay the brown”", out=path)
        running = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, (width, height) in SIZES.items():
            context = running.new_context(viewport={"width": width, "height": height}, offline=True)
            page = context.new_page()
            page.goto(path.as_uri())
            page.wait_for_selector("footer")
            page.screenshot(path=str(PICTURES / name))
            Image.open(PICTURES / name).convert("RGB").quantize(COLORS).save(PICTURES / name, optimize=True)
            context.close()
        running.close()


if __name__ == "__main__":
    main()
