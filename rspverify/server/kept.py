"""Answers that were given before, to give them again at once; the latest of so many bytes."""

from __future__ import annotations

import hashlib
from collections import OrderedDict


class Kept:
    """Answers by their questions, up to so many bytes of both together."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._answers: OrderedDict[bytes, bytes] = OrderedDict()

    def get(self, question: bytes) -> bytes | None:
        """The answer to a question, word by word the same."""
        key = _key(question)
        if (found := self._answers.get(key)) is not None:
            self._answers.move_to_end(key)
        return found

    def put(self, question: bytes, answer: bytes) -> None:
        """Keep an answer; what was not asked for longest goes."""
        key = _key(question)
        self._size += len(answer) - len(self._answers.pop(key, b""))
        self._answers[key] = answer
        while self._size > self._most:
            _, gone = self._answers.popitem(last=False)
            self._size -= len(gone)


def _key(question: bytes) -> bytes:
    return hashlib.sha256(question).digest()
