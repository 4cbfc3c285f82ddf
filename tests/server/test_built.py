"""What ships as the page's script is what its sources build; with the licence of all that is in it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES, BUILT = ROOT / "website/page", ROOT / "rspverify/server/built"


def npm(*words: str, at: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["npm", *words], cwd=at, capture_output=True, text=True, timeout=300)


def test_it_is_what_the_sources_build(tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not found")
    sources = tmp_path / "page"
    shutil.copytree(SOURCES, sources, ignore=shutil.ignore_patterns("node_modules"))
    installed = npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", at=sources)
    if installed.returncode:
        pytest.skip("npm cannot install what the page is built of")
    types = npm("run", "types", at=sources)
    assert types.returncode == 0, types.stdout
    built = npm("run", "build", "--", "../built", at=sources)
    assert built.returncode == 0, built.stderr
    for name in ("page.js", "page.css", "LICENCES.txt"):
        made = (tmp_path / "built" / name).read_bytes()
        assert made == (BUILT / name).read_bytes(), (
            f"{name}: cd website/page && npm ci && npm run build"
        )


def test_every_library_has_its_licence() -> None:
    text = (BUILT / "LICENCES.txt").read_text()
    heads = re.findall(r"^(\S+) (\d[\d.]*) \((\S+)\)$", text, re.MULTILINE)
    locked = json.loads((SOURCES / "package-lock.json").read_text())["packages"]
    versions = {
        path.removeprefix("node_modules/"): it["version"] for path, it in locked.items() if path
    }
    assert {"@codemirror/view", "@lezer/lr", "style-mod"} <= {name for name, _, _ in heads}
    assert all(versions[name] == version for name, version, _ in heads)
    assert {licence for _, _, licence in heads} == {"MIT"}


def test_nothing_is_contacted() -> None:
    script, style = ((BUILT / f"page.{ending}").read_text() for ending in ("js", "css"))
    found = set(re.findall(r"https?://[^\s\"'`)\\]+", script + style))
    assert all(
        each.startswith(
            ("http://www.w3.org/", "https://codemirror.net/", "https://crbug.com", "https://bugs.")
        )
        for each in found
    ), found
    assert "eval(" not in script and "new Function(" not in script


def test_its_pins_are_exact() -> None:
    given = json.loads((SOURCES / "package.json").read_text())["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in given.values())
    assert "resolved" not in (SOURCES / "package-lock.json").read_text()
