"""Where strangers name files: only what ships, and what is in one folder, can be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rspverify.architecture.machines import machine_named
from rspverify.axiomatic.cat import load_model
from rspverify.shipped import SHIPPED, hidden, sealed
from rspverify.source import InputError, Source, read_source

INSIDE = ("own.cat", "below/own.cat", "below/../own.cat")
OUTSIDE = ("../secret.cat", "below/../../secret.cat", "/etc/passwd", "link.cat", "\0")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = tmp_path / "inside"
    (inside / "below").mkdir(parents=True)
    (tmp_path / "secret.cat").write_text("a line that nobody may read")
    (tmp_path / "secret.machine").write_text("a line that nobody may read")
    (inside / "link.cat").symlink_to(tmp_path / "secret.cat")
    monkeypatch.chdir(inside)
    return inside


def test_what_is_hidden(folder: Path) -> None:
    assert not any(hidden(Path(name)) for name in (*INSIDE, *OUTSIDE))
    with sealed(folder):
        assert not any(hidden(Path(name)) for name in INSIDE)
        assert all(hidden(Path(name)) for name in OUTSIDE)
        assert not hidden(SHIPPED / "schemes" / "proposed.yaml")
        assert hidden(SHIPPED / "schemes" / ".." / ".." / ".." / "pyproject.toml")


def test_a_hidden_file_is_as_one_that_is_not_there(folder: Path) -> None:
    with sealed(folder):
        for name in ("../secret.cat", "../absent.cat"):
            with pytest.raises(InputError, match=rf"^{name}: no such file\n"):
                read_source(name)
        assert read_source("schemes/proposed.yaml").text.startswith("# The scheme")


@pytest.mark.parametrize("name", [os.path.join("..", "secret"), "/etc/passwd"])
def test_no_include_leads_out(name: str, folder: Path) -> None:
    for ending in ("", ".cat", ".machine"):
        (folder / "own.cat").write_text(f'"m"\ninclude "{name}{ending}"\nacyclic rf as A')
        (folder / "own.machine").write_text(f'machine m "x"\ninclude "{name}{ending}"\n')
        with sealed(folder):
            with pytest.raises(InputError) as model:
                load_model("own.cat")
            with pytest.raises(InputError) as machine:
                machine_named("own.machine")
        for met in (model, machine):
            assert "nobody may read" not in str(met.value) and "root:" not in str(met.value)


def test_a_name_that_no_file_can_have(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^a+: no such file"):
        read_source("a" * 5_000)


def test_a_scheme_names_no_machine_outside(folder: Path) -> None:
    from rspverify.scheme.reader import read_scheme

    text = "name: s\nmachine: ../secret.machine\nrows:\n  - {op: load, scope: dv, code: [LD r x]}\n"
    with sealed(folder), pytest.raises(InputError, match="no such file") as met:
        read_scheme(Source("scheme.yaml", text))
    assert "nobody may read" not in str(met.value)
