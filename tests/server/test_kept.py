"""Answers that were given are kept, up to a size."""

from __future__ import annotations

from rspverify.server.app import Kept


def test_what_was_not_asked_for_longest_goes() -> None:
    kept = Kept(10)
    for name in (b"a", b"b"):
        kept.put(name, name * 5)
    assert kept.get(b"a") == b"aaaaa"
    kept.put(b"c", b"ccccc")
    assert (kept.get(b"a"), kept.get(b"b"), kept.get(b"c")) == (b"aaaaa", None, b"ccccc")


def test_an_answer_that_is_too_large_is_not_kept() -> None:
    kept = Kept(10)
    kept.put(b"a", b"a" * 11)
    kept.put(b"b", b"b" * 4)
    kept.put(b"b", b"b" * 6)
    assert (kept.get(b"a"), kept.get(b"b")) == (None, b"bbbbbb")
