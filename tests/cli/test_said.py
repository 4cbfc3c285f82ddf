"""What commands say: each section of a page in `said` is followed in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from pages import ROOT, Block, Reader, sections

SECTIONS = [
    pytest.param(blocks, id=f"{page.stem}: {title}")
    for page in sorted(Path(__file__).with_name("said").glob("*.md"))
    for title, blocks in sections(page).items()
]


@pytest.mark.usefixtures("one_cache", "in_one_process")
@pytest.mark.parametrize("blocks", SECTIONS)
def test_it_is_said(blocks: list[Block], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`broken` has schemes that are."""
    monkeypatch.chdir(tmp_path)
    if any("broken/" in block.text for block in blocks):
        (tmp_path / "broken").symlink_to(ROOT / "tests/scheme/broken")
    reader = Reader(tmp_path)
    for block in blocks:
        reader.follow(block)
