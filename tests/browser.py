"""Headless Chromium for tests of pages: what it logs and asks for is kept, so that a test can look at it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from programs import lacking

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# No sandbox: CI runs as root in a container. The rest keeps the browser from talking to anyone.
OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str:
    """The browser's program. Skips the test where there is none, fails it where every tool must be there."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        lacking("Chromium is not installed")
    return found


@contextmanager
def running() -> Iterator[Browser]:
    """A browser with a new, empty profile."""
    program = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=OPTIONS)
        yield browser
        browser.close()


class Tab:
    """A page, and what it did: errors that it logged, addresses that it asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path, rest: str = "") -> Page:
        """Opens a file, with a query or fragment as `rest`."""
        self.page.goto(path.as_uri() + rest)
        return self.page

    def check(self) -> None:
        """Nothing was logged as an error, and nothing but files was asked for."""
        assert not self.errors, self.errors
        strangers = [url for url in self.requests if not url.startswith("file://")]
        assert not strangers, strangers


@contextmanager
def tab(browser: Browser, *, width: int = 1200, scheme: str = "light") -> Iterator[Tab]:
    """A tab in a context of its own, checked at the end."""
    dark = scheme == "dark"
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )
    found = Tab(context.new_page())
    yield found
    found.check()
    context.close()
