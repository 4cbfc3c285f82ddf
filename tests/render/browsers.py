"""Pages as a browser opens them."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

_OPENED = count()


class Visitor:
    """Opens pages, and notes what its browser says and asks for.

    page: which is gone to, where nothing is said of how.
    """

    def __init__(self, browser: Any, page: Any) -> None:
        self.browser, self.page = browser, page
        self.said: list[str] = []
        self.asked: list[str] = []
        self._contexts: list[Any] = []
        self._notes = {
            "console": lambda message: self.said.append(message.text),
            "pageerror": lambda error: self.said.append(str(error)),
            "request": lambda request: self.asked.append(request.url),
        }
        self._attend(page)

    def go(self, address: str, fragment: str = "", *, anew: bool = False, **how: Any) -> Any:
        """A page that is there. anew: in a browser that has been nowhere, as where it is said how."""
        page = self.page
        if anew or how:
            self._contexts.append(self.browser.new_context(**how))
            page = self._contexts[-1].new_page()
            self._attend(page)
        # A page that differs by its fragment alone would not be loaded.
        page.goto(f"{address}?{next(_OPENED)}{fragment}")
        return page

    def leave(self) -> None:
        """Nothing of it is left to the next."""
        if self.page.url != "about:blank":
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.unroute_all()
        for name, note in self._notes.items():
            self.page.remove_listener(name, note)
        for context in self._contexts:
            context.close()

    def _attend(self, page: Any) -> None:
        page.set_default_timeout(30_000)
        for name, note in self._notes.items():
            page.on(name, note)


class Opened(Visitor):
    """Opens pages that are texts."""

    def __init__(self, browser: Any, page: Any, folder: Path) -> None:
        super().__init__(browser, page)
        self.folder = folder
        self.file = folder / "page.html"

    def __call__(self, text: str, fragment: str = "", **how: Any) -> Any:
        self.file.write_text(text)
        return self.go(self.file.as_uri(), fragment, **how)
