"""Commands as users run them, in this process."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from rspverify.cli import app


def run(*words: object) -> Result:
    """What a command line prints, and its exit code."""
    return CliRunner().invoke(app, [str(each) for each in words])
