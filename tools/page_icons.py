"""Draw the page's icons for home screens from its icon.svg, with Chromium.

python tools/page_icons.py
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

PAGE = Path(__file__).parents[1] / "src" / "answerable" / "interfaces" / "http" / "page"
COLOUR = "#17605c"
# Name, size, and share of the icon that the picture fills; systems cut the corners of icons filled to the edge.
ICONS = (("192", 192, 1.0, True), ("512", 512, 1.0, True), ("maskable", 512, 0.72, False), ("apple", 180, 0.9, False))


def main() -> None:
    """Write the icons."""
    drawing = (PAGE / "icon.svg").read_text("utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, size, share, is_round in ICONS:
            page = browser.new_page(viewport={"width": size, "height": size})
            margin = round(size * (1 - share) / 2)
            ground = "transparent" if is_round else COLOUR
            style = f"html{{background:{ground}}}body{{margin:{margin}px}}svg{{display:block;width:100%}}"
            page.set_content(f"<style>{style}</style>{drawing}")
            page.screenshot(path=PAGE / "icons" / f"{name}.png", omit_background=is_round)
        browser.close()


if __name__ == "__main__":
    main()
