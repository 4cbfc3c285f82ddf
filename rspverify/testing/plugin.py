"""The pytest plugin: its options, and what is collected beside the project's own tests.

pytest loads this file in every run, so everything else is imported only where a scheme is given.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rspverify.testing.asked import Asked, SchemeFile

SCHEMES, TESTS = "schemes", "tests"
EXPECT, MODEL, PROGRESS, PROVE = "expect", "model", "progress", "prove"
_SEVERAL = {"action": "append", "default": [], "metavar": "PATH"}
_OPTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    SCHEMES: (
        "Put this scheme to the litmus tests, each an item. As often as wanted; nothing else "
        "is collected unless paths are given, too.",
        _SEVERAL,
    ),
    TESTS: (
        "Litmus tests, a file or a folder. As often as wanted. Default: as of rspverify "
        "check, the suite litmus/rsp.",
        _SEVERAL,
    ),
    EXPECT: (
        "What is expected: a verdict that is not the expected one fails, and no other.",
        {"metavar": "FILE"},
    ),
    MODEL: (
        "The memory model: a name that rspverify list shows, or a .cat file.",
        {"metavar": "NAME"},
    ),
    PROGRESS: (
        "Also ask whether the compiled tests can always go on; STUCK fails.",
        {"action": "store_true"},
    ),
    PROVE: (
        "Also ask whether each scheme is sound for programs of any size; what is not PROVED fails.",
        {"action": "store_true"},
    ),
}
"""For each option, and the key of the same meaning: its help, and its kind."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, and a key of the same meaning for each."""
    group = parser.getgroup("rspverify", "schemes put to litmus tests")
    keys: Mapping[str, Any] = {"append": ("args", []), "store_true": ("bool", False)}
    for name, (help, how) in _OPTIONS.items():
        option = "--rspverify" if name == SCHEMES else f"--rspverify-{name}"
        group.addoption(option, dest=dest(name), help=help, **how)
        kind, default = keys.get(how.get("action", ""), ("string", ""))
        parser.addini(dest(name), help, type=kind, default=default)


def pytest_configure(config: pytest.Config) -> None:
    """Where schemes are given, have them collected. What is wrong with the options is told here."""
    given = bool(config.getoption(dest(SCHEMES)))
    if (given or config.getini(dest(SCHEMES))) and not config.getoption("help", False):
        config.pluginmanager.register(_Collection(config, given), "rspverify-collection")


class _Collection:
    """The schemes of a run, collected beside what pytest finds by itself.

    given: whether they come from the command line, and not from the project's configuration.
    """

    def __init__(self, config: pytest.Config, given: bool) -> None:
        from rspverify.source import InputError
        from rspverify.testing.asked import asked

        try:
            self.asked = asked(config, given)
        except InputError as error:
            raise pytest.UsageError(str(error)) from None
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        only, others = _told_apart(config.args, self.asked)
        if given:
            config.args[:] = others if named else []
        elif named:
            config.args[:] = others
        self._only: dict[str, set[str]] = only
        self._all = not named or (given and not only)

    def pytest_report_header(self) -> list[str]:
        """What the items are made of, as far as one could wonder."""
        asked = self.asked
        told = [f"rspverify: {note}" for note in asked.meant.notes]
        return [*told, *([f"rspverify: expected is {asked.expect}"] if asked.expect else [])]

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """The schemes come after all that is found in files of Python."""
        report = yield
        if isinstance(collector, pytest.Session) and report.outcome == "passed":
            report.result = [*(report.result or ()), *self._files(collector)]
        return report

    def _files(self, session: pytest.Session) -> list[SchemeFile]:
        from rspverify.testing.asked import SchemeFile

        return [
            SchemeFile.of(session, self.asked, scheme, self._only.get(scheme, set()))
            for scheme in self.asked.schemes
            if self._all or scheme in self._only
        ]

    def pytest_unconfigure(self) -> None:
        """Let go of the cache."""
        self.asked.close()


def _told_apart(args: list[str], asked: Asked) -> tuple[dict[str, set[str]], list[str]]:
    """Of what is to be collected: the schemes, each with the names of tests that are asked for (all
    if there are none), and everything else."""
    only: dict[str, set[str]] = {}
    whole: set[str] = set()
    others = []
    for arg in args:
        path, _, name = arg.partition("::")
        scheme = asked.scheme_at(Path(path))
        if scheme is None:
            others.append(arg)
            continue
        only.setdefault(scheme, set()).add(name)
        if not name:
            whole.add(scheme)
    return {scheme: set() if scheme in whole else names for scheme, names in only.items()}, others


def dest(name: str) -> str:
    """What pytest calls an option, and the key of the same meaning."""
    return f"rspverify_{name}"
