"""One execution by rows of bits, against the terms of all executions under the same assignment."""

from itertools import islice
from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.execution import executions
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.vocabulary import BASE_RELATIONS
from rspverify.drawing.violation import EvaluatedExecution
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program_file
from rspverify.source import Source

LITMUS = Path(__file__).resolve().parents[2] / "litmus"
IN_ASSEMBLY = ("loops", "ptx")
TESTS = sorted(it for it in LITMUS.glob("*/*.litmus") if it.parent.name not in IN_ASSEMBLY)[::23]
OWN = read_model(
    Source(
        "own.cat",
        """
let rec hb = sb | rf | (hb; hb)
with S from linearisations(W, hb)
acyclic S | rf as First
let back = S^-1
let S = S; S
acyclic mo | S as Last
""",
    ),
    "own.cat",
)


@pytest.mark.parametrize(
    "model", [OWN, load_model("opencl-rsp"), load_model("rc11")], ids=lambda it: it.name
)
def test_every_name_has_the_value_that_the_solver_gave_it(model: MemoryModel) -> None:
    seen = 0
    for path in TESTS:
        questions = Questions(read_program_file(path), model, Limits())
        candidates = questions.candidates
        for execution in islice(executions(candidates, questions.solver()), 4):
            evaluated = EvaluatedExecution(execution)
            for name in model.relations | (model.names & {*BASE_RELATIONS}):
                pairs = evaluated.pairs(name)
                assert pairs == {*execution.pairs(candidates.relation(name))}, (path, name)
                seen += len(pairs)
    assert seen > 100
