"""`serve`: where it listens, and what is said where it cannot."""

from __future__ import annotations

import builtins
import socket
from functools import partial
from typing import Any

import command_line
import pytest

run = partial(command_line.run, "serve")


def test_where_it_cannot_listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("--port", str(port))
    assert result.exit_code == 2
    assert f"127.0.0.1:{port}: must be an address to listen at, and is not: " in result.stderr
    assert "hint: --port 0 takes a free port" in result.stderr


def test_a_scheme_that_it_opens() -> None:
    import json

    from rspverify.server.catalogue import Catalogue
    from rspverify.source import Source

    found = json.loads(Catalogue.read([Source("mine.yaml", "name: mine")]).json)
    assert found["examples"][0]["scheme"] == found["schemes"][0] == "mine.yaml"
    assert "mine.yaml: no such file" in run("mine.yaml").stderr


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def imported(name: str, *rest: Any) -> Any:
        if name.startswith("uvicorn"):
            raise ModuleNotFoundError(name=name)
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", imported)
    monkeypatch.delitem(__import__("sys").modules, "rspverify.server.app", raising=False)
    result = run()
    assert result.exit_code == 2
    assert "serve must have uvicorn installed, and it is not" in result.stderr
    assert "hint: pip install 'rspverify[web]'" in result.stderr


def test_by_which_names_it_may_be_called() -> None:
    from rspverify.commands.serve import ServeParameters as Place
    from rspverify.server.app import LOOPBACK, hosts_of

    assert hosts_of(Place()) == hosts_of(Place("::1")) == LOOPBACK
    assert hosts_of(Place(public=True)) == hosts_of(Place("0.0.0.0")) == ("*",)
