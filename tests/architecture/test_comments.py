"""The comments of a machine's file, as what they stand beside is explained by them."""

from __future__ import annotations

from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.source import Source

FILE = """machine mine "mine"
include rsp
state { extra : fifo of thread # what waits
}
# [D] Said above.
# In two lines.
instruction NOP
  do both(L1)

# Not beside it.

step EVICT_L1 of workgroup, location x
  when L1.VALID[x]
  do L1.VALID[x] := false
# [I] Of the definition.
define both(C) do each location y: C.VALID[y] := false
"""


def test_a_comment_is_of_what_stands_beside_or_below_it() -> None:
    found = read_architecture(Source("mine.machine", FILE))
    assert found.notes["extra"] == "what waits"
    assert found.notes["NOP"] == "[D] Said above. In two lines. [I] Of the definition."
    assert "EVICT_L1" not in found.notes


def test_comments_mean_nothing() -> None:
    bare = "\n".join(line.partition("#")[0] for line in FILE.split("\n"))
    one, other = (read_architecture(Source("mine.machine", each)) for each in (FILE, bare))
    assert one == other and one.meaning_digest == other.meaning_digest


def test_what_a_compiler_emits_has_the_sentences_of_its_document() -> None:
    notes = MACHINES["amdgpu-gfx942"].notes
    for name in ("buffer_wbl2 sc1", "buffer_inv sc1", "s_waitcnt vmcnt(0)"):
        assert notes[name].startswith("[D] ")
