"""Pages as a browser opens them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Opened:
    """Opens pages, and notes what its browser says and asks for."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser, self.folder = browser, folder
        self.file = folder / "page.html"
        self.said: list[str] = []
        self.asked: list[str] = []

    def __call__(self, text: str, place: str = "", **how: Any) -> Any:
        self.file.write_text(text)
        return self.at(f"{self.file.as_uri()}{place}", **how)

    def at(self, address: str, **how: Any) -> Any:
        """A page that is there."""
        page = self.browser.new_page(**how)
        page.set_default_timeout(10_000)
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)
        return page
