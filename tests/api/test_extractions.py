"""A compiler's table is a scheme for its machine, or what the machine has not is named."""

import re

import pytest

from rspverify.commands.extract import read_back
from rspverify.compilers import Extraction, TableRow
from rspverify.source import InputError


def test_what_the_machine_has_not_is_named() -> None:
    row = TableRow("store", ("na", "wg"), ("release",), ("global",), None, ("ds_store_b32 x r",))
    extraction = Extraction("llvm-gfx1", "by hand", "rsp", (row,))
    with pytest.raises(InputError) as error:
        read_back(extraction)
    said = r"^llvm-gfx1\.yaml:6:.*: an instruction must be one of .*, not 'ds_store_b32'$"
    assert re.search(said, str(error.value), re.MULTILINE)
