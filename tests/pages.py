"""Pages as readers follow them: each in an empty folder of its own, block after block.

A fenced block of a page is one of these:

* `console`: lines `$ command` with the output beneath. It is run, and the output compared; a line `…` stands for any
  number of lines. A command without output beneath is run, and must end well, or as its comment `ends with N` says.
* `console` whose title begins with `Not run in CI: `, and says why.
* `yaml`, `toml`, `python`, `text` … with `title="FILE"`: a file, written. With `title="FILE, in part"`: lines that it has.
* `diff title="FILE"`: an edit of a file that is there.
* `python` without a title: run, all of a page in one namespace; `pycon`: run, and compared as doctest does.

Any other is there to be looked at.
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from typer.testing import CliRunner

from rspverify.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted(ROOT.glob("litmus*/**/README.md")),
    *sorted((ROOT / "examples").rglob("README.md")),
]
NOT_RUN = "Not run in CI: "
ANYTHING = "…"
_MISTAKES = (2, 70)
"""What a command of a page may not end with, but where the page shows what it says."""

_TITLE = re.compile(r'\btitle="([^"]*)"')
_VARYING = [
    (re.compile(r"\b\d+(\.\d+)?( s|/s)\b"), r"…\2"),
    (re.compile(r"^(Time \S+) .*"), r"\1 …"),
    (re.compile(r' time="[\d.]+"'), ""),
    (re.compile(r", [\d,]+ cached"), ""),
    (re.compile(r"\b(rspverify|z3) \d[\w.]*"), r"\1 …"),
]
"""Times, what the cache happened to know, and versions."""


@dataclass(frozen=True)
class Block:
    """A block of a page. line: where it begins. title: of a fenced one, if it has one."""

    line: int
    language: str
    title: str
    text: str

    @property
    def is_run(self) -> bool:
        return self.language == "console" and not self.title.startswith(NOT_RUN)

    @property
    def steps(self) -> Iterator[tuple[str, list[str]]]:
        """The commands of a console, each with what is shown beneath it."""
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, *shown = part.replace("\\\n", " ").splitlines()
            yield command, shown


def blocks(page: Path) -> list[Block]:
    """The blocks of code of a page, in order."""
    found = []
    for token in MarkdownIt().parse(page.read_text()):
        if token.type in ("fence", "code_block") and token.map is not None:
            language, _, rest = token.info.strip().partition(" ")
            title = _TITLE.search(rest)
            found.append(
                Block(token.map[0] + 1, language, title[1] if title else "", token.content)
            )
    return found


def sections(page: Path) -> dict[str, list[Block]]:
    """The blocks of a page by the heading of the second order above each."""
    lines = page.read_text().splitlines()
    found: dict[str, list[Block]] = {}
    for block in blocks(page):
        heads = (line for line in reversed(lines[: block.line]) if line.startswith("## "))
        found.setdefault(next(heads).removeprefix("## "), []).append(block)
    return found


def plain(lines: list[str]) -> list[str]:
    """Lines without what is another each time, and without empty ones at their end."""
    found = []
    for line in lines:
        for pattern, instead in _VARYING:
            line = pattern.sub(instead, line)
        found.append(line.rstrip())
    while found and not found[-1]:
        found.pop()
    return found


def as_shown(shown: list[str], found: list[str]) -> bool:
    """Whether an output is what is shown, where `…` stands for any number of lines."""
    parts: list[list[str]] = [[]]
    for line in plain(shown):
        if line.strip() == ANYTHING:
            parts.append([])
        else:
            parts[-1].append(line)
    rest = plain(found)
    first, *others = parts
    if rest[: len(first)] != first or (not others and rest != first):
        return False
    rest = rest[len(first) :]
    for number, part in enumerate(others):
        last = number == len(others) - 1
        places = [at for at in range(len(rest) + 1) if rest[at : at + len(part)] == part]
        if last and part:
            places = [at for at in places if at + len(part) == len(rest)]
        if not places:
            return False
        rest = rest[places[0] + len(part) :]
    return True


@dataclass
class Reader:
    """Somebody who follows a page in a folder. status: how the last command ended."""

    folder: Path
    status: int = 0
    names: dict[str, Any] = field(default_factory=dict)

    def follow(self, block: Block) -> None:
        """Do what the block says, and see that it is so."""
        match block.language:
            case "console":
                for command, shown in block.steps if block.is_run else ():
                    self._run(command, shown)
            case "python" if not block.title:
                exec(compile(block.text, f"line {block.line}", "exec"), self.names)
            case "pycon":
                self._converse(block)
            case "diff":
                self._edit(block)
            case _ if block.title.endswith(", in part"):
                there = (self.folder / block.title.removesuffix(", in part")).read_text()
                missing = set(block.text.splitlines()) - set(there.splitlines())
                assert not missing - {"", ANYTHING}, missing
            case _ if block.title:
                place = self.folder / block.title
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(block.text)

    def _run(self, command: str, shown: list[str]) -> None:
        command, _, ending = command.partition("  # ends with ")
        words = shlex.split(command, comments=True)
        if words[0] == "rspverify" and not set(words) & {"|", "&&", ">"}:
            result = CliRunner().invoke(
                app, words[1:], env={"TERMINAL_WIDTH": "80", "COLUMNS": "160"}
            )
            status, output = result.exit_code, result.output
        elif words == ["echo", "$?"]:
            status, output = 0, str(self.status)
        else:
            status, output = self._shell(command)
        self.status = status
        assert not ending or int(ending) == status, f"$ {command}\n{status}\n{output}"
        if any(shown):
            assert as_shown(shown, output.splitlines()), f"$ {command}\n{output}"
        else:
            assert ending or status not in _MISTAKES, f"$ {command}\n{output}"

    def _shell(self, command: str) -> tuple[int, str]:
        path = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
        ran = subprocess.run(
            ["bash", "-c", f"{path}\n{command}"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout

    def _converse(self, block: Block) -> None:
        parser = doctest.DocTestParser()
        test = parser.get_doctest(block.text, self.names, "page", "page", block.line)
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        said: list[str] = []
        runner = doctest.DocTestRunner(optionflags=options, verbose=False)
        runner.run(test, out=said.append, clear_globs=False)
        self.names.update(test.globs)
        assert not said, "".join(said)

    def _edit(self, block: Block) -> None:
        place = self.folder / block.title
        text = place.read_text()
        lines = block.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(old) == 1, f"{block.title} does not have\n{old}"
        place.write_text(text.replace(old, new))
