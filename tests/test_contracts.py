"""The rooms: imports run one way, and start-up loads no solver."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_imports_run_one_way() -> None:
    """The contracts of pyproject.toml (docs/architecture.md)."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([linter], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [3-9]\d* kept, 0 broken\.", done.stdout)


def test_help_loads_no_solver() -> None:
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from rspverify.cli import app\n"
        "for words in (['--help'], ['--version'], ['check', '--help']):\n"
        "    assert CliRunner().invoke(app, words).exit_code == 0\n"
        "assert not {'z3', 'pysmt', 'rspverify.lalr', 'yaml'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
