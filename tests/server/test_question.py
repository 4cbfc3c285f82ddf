"""What the page may ask; all else is refused before anything is read."""

from __future__ import annotations

import json

import pytest

from rspverify.server.catalogue import Catalogue
from rspverify.server.question import Refused, read_question

WRONG = {
    b"": "must be as the page asks it",
    b"[" * 100_000: "must be as the page asks it",
    b'{"kind": "verdict"}': "missing required field `scheme`",
    b'{"kind": "other", "scheme": ""}': "Invalid enum value 'other'",
    b'{"kind": "verdict", "scheme": 1}': "Expected `str`, got `int` - at `[$].scheme`",
    b'{"kind": "verdict", "scheme": "", "more": 1}': "unknown field `more`",
    b'{"kind": "hunt", "scheme": "", "operations": 8}': "Expected `int` <= 7",
    b'{"kind": "verdict", "scheme": "", "unroll": 1000}': "Expected `int` <= 16",
    b'{"kind": "verdict", "scheme": "\\u0000"}': "no NUL character",
    b'{"kind": "verdict", "scheme": "\\ud800"}': "must be as the page asks it",
    b"\xff": "must be as the page asks it",
}


@pytest.mark.parametrize("data", WRONG)
def test_what_is_refused(data: bytes) -> None:
    with pytest.raises(Refused) as refused:
        read_question(data)
    words = WRONG[data].replace("[$]", "$")
    assert refused.value.status == 400 and words in str(refused.value)


@pytest.mark.parametrize("what", ["model", "machine", "corpus"])
def test_only_what_ships_has_a_name(what: str) -> None:
    catalogue = Catalogue({}, {"litmus/rsp": ()}, {}, ("opencl-rsp",), {"rsp": ""})
    asked = {"kind": "corpus", "scheme": "", "machine": "rsp+SWITCH"}
    catalogue.require(read_question(json.dumps(asked).encode()))
    for name in ("../rsp", "/etc/passwd", "own.machine", "own.cat"):
        with pytest.raises(Refused, match=f"the {what} must be one that ships, not {name}"):
            catalogue.require(read_question(json.dumps({**asked, what: name}).encode()))
