"""`report --site`: what it asks, what it writes, and how it ends."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rspverify.cli import app

pytestmark = pytest.mark.usefixtures("in_repository", "in_one_process")

TESTS = [f"litmus/rsp/paper/{it}.litmus" for it in ("Fig4", "Ex3", "Ex4")]
GIVEN = ("original", "proposed", *TESTS)


def run(site: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["report", "--site", str(site), "-j", "1", *arguments])


def files(site: Path) -> dict[str, bytes]:
    return {str(it.relative_to(site)): it.read_bytes() for it in site.rglob("*") if it.is_file()}


def test_a_page_for_each_result_and_the_same_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run(tmp_path / "site", *GIVEN)
    assert result.exit_code == 1, "as check: some are UNSOUND"
    assert "10 files" in result.stdout and "4 results with a page" in result.stdout
    first = files(tmp_path / "site")
    broken = first["cases/Fig4--original.html"].decode()
    assert "row 2, load DV,N" in broken and "<rsp-execution" in broken and "<svg" in broken
    sound = first["cases/Fig4--proposed.html"].decode()
    assert "The machine reaches 2 of the 2." in sound and "Exact: it holds for every" in sound
    assert "cases/Ex3--original.html" not in first, "it is RACY"
    monkeypatch.setattr("rspverify.soundness.check.check", lambda *_: 1 / 0)
    monkeypatch.setattr("rspverify.judge.explain.Reach.find", lambda *_: 1 / 0)
    assert run(tmp_path / "site", *GIVEN).exit_code == 1, "nothing is decided twice"
    assert files(tmp_path / "site") == first


def test_so_many_have_a_page_counterexamples_first(tmp_path: Path) -> None:
    run(tmp_path / "site", *GIVEN, "--most", "2")
    made = [it for it in files(tmp_path / "site") if it.startswith("cases/")]
    assert sorted(it for it in made if it.endswith("html")) == [
        f"cases/{test}--original.html" for test in ("Ex4", "Fig4")
    ]
    assert run(tmp_path / "broken", *GIVEN, "--broken").exit_code == 1
    assert {it for it in files(tmp_path / "broken") if it.startswith("cases/")} == {*made}
    assert "2 of 4 results have a page" in (tmp_path / "site/index.html").read_text()


def test_what_is_wrong_is_said_before_anything_is_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rspverify.soundness.check.check", lambda *_: 1 / 0)
    (tmp_path / "mine.txt").write_text("mine")
    result = run(tmp_path, *GIVEN)
    assert result.exit_code == 2 and "must be a site from before" in result.stderr
    assert run(tmp_path / "site", "no-such-scheme.yaml").exit_code == 2
    assert [it.name for it in tmp_path.iterdir()] == ["mine.txt"]


def test_an_interrupt_leaves_what_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def details(*_: Any, **__: Any) -> Generator[Any, None, None]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr("rspverify.drawing.details.details", details)
    assert run(tmp_path / "site", *GIVEN).exit_code == 130
    page = (tmp_path / "site/index.html").read_text()
    assert "interrupted after all 6 verdicts" in page and "0 of 4 results have a page" in page
