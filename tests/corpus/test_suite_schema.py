"""The schemas of suites and of what is expected, against their readers."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import jsonschema
import pytest
import yaml

from rspverify.corpus.expected import read_expected
from rspverify.corpus.schema import expected_schema, suite_schema
from rspverify.corpus.suite import Kind, read_suite
from rspverify.source import InputError

ROOT = Path(__file__).parents[2]
SUITES = sorted(ROOT.glob("litmus*/**/suite.yaml"))
EXPECTED = sorted([*ROOT.glob("litmus*/**/expected.yaml"), ROOT / "examples/ci/expected.yaml"])


SUITE, EXPECTED_WORDS = map(jsonschema.Draft7Validator, (suite_schema(), expected_schema()))


def is_valid(text: str, schema: jsonschema.Draft7Validator) -> bool:
    schema.check_schema(schema.schema)
    found: bool = schema.is_valid(yaml.safe_load(text))
    return found


def test_every_file_that_ships_is_taken() -> None:
    assert [it for it in SUITES if not is_valid(it.read_text(), SUITE)] == []
    assert [it for it in EXPECTED if not is_valid(it.read_text(), EXPECTED_WORDS)] == []


WRONG_SUITES = [
    "about: a",
    "schemes: [s.yaml]",
    "about: a\nmodels: [opencl]\nmachines: [ptx-weak]",
    "about: a\nmachines: [ptx-weak]\nmodel: opencl",
    "about: a\nmachines: [ptx-weak]\ndefault: true",
    "about: a\nschemes: [s.yaml]\nmodels: [opencl]",
    "about: a\nschemes: []",
    "about: a\nschemes: [[s.yaml]]",
    "about: a\nschemes: [s.yaml]\nspeed: 3",
    "about: a\nschemes: [s.yaml]\nprogress: perhaps",
    "about: a\nschemes: [s.yaml]\nengine: events2",
    "about: a\nschemes: [s.yaml]\nunroll: 0",
    "about: a\nschemes: [s.yaml]\ntimeout: -1",
    "about: a\nschemes: [s.yaml]\nunroll: 1.5",
    "about: a\nschemes: [s.yaml]\ndefault: perhaps",
    "about: a\nmodels: [opencl]\ndefault: true",
    "about: a\nmodels: [opencl]\nengine: events",
    "about: a\nmodels: [opencl]\noptional: [t.litmus]",
    "about: a\nmodels: [opencl]\nunit: thread",
    "about: a\nschedulers: [fair]\nunit: threads",
    "about: [a]\nmodels: [opencl]",
    "- about",
]
RIGHT_SUITES = [
    "about: a\nschemes: s.yaml\nengine: unroll\nsteps: 4\ntimeout: 0.5\nprogress: true\ndefault: true"
    "\noptional: t*",
    "about: 1\nmodels: [opencl, c11]\nunroll: 3\nmixed: true\nexpected: other.yaml\ndefault: false",
]


@pytest.mark.parametrize("text", [*WRONG_SUITES, *RIGHT_SUITES])
def test_a_suite(text: str, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(text)
    (tmp_path / "s.yaml").write_text("name: s\n")
    (tmp_path / "t.litmus").write_text("OPENCL t\n")
    right = text in RIGHT_SUITES
    with nullcontext() if right else pytest.raises(InputError):
        read_suite(str(tmp_path))
    assert is_valid(text, SUITE) is right


RIGHT = [
    ("verdicts: {}", Kind.SCHEMES),
    (
        "model: opencl-rsp\nverdicts: {t: {s: SOUND, u: UNSOUND within 8 iterations and 12 steps}}",
        Kind.SCHEMES,
    ),
    ("verdicts: {t: {s: {verdict: SOUND within 8 iterations, progress: STUCK}}}", Kind.SCHEMES),
    ("answers: {t: {m: Sometimes racy, n: Never within 3 iterations}}", Kind.MODELS),
]
WRONG = [
    ("{}", Kind.SCHEMES),
    ("- a", Kind.SCHEMES),
    ("verdicts: []", Kind.SCHEMES),
    ("verdicts: {t: SOUND}", Kind.SCHEMES),
    ("verdicts: {t: {s: sound}}", Kind.SCHEMES),
    ("verdicts: {t: {s: [SOUND]}}", Kind.SCHEMES),
    ("verdicts: {t: {s: SOUND within 8 parsecs}}", Kind.SCHEMES),
    ("verdicts: {t: {s: SOUND within}}", Kind.SCHEMES),
    ("verdicts: {t: {s: {progress: LIVE}}}", Kind.SCHEMES),
    ("verdicts: {t: {s: {verdict: SOUND, progress: SOUND}}}", Kind.SCHEMES),
    ("verdicts: {t: {s: {verdict: SOUND, why: x}}}", Kind.SCHEMES),
    ("verdicts: {}\nother: {}", Kind.SCHEMES),
    ("answers: {t: {m: SOUND}}", Kind.MODELS),
    ("model: opencl\nanswers: {t: {m: Never}}", Kind.MODELS),
]


@pytest.mark.parametrize(
    ("text", "kind", "right"),
    [*((*each, True) for each in RIGHT), *((*each, False) for each in WRONG)],
)
def test_what_may_be_expected(text: str, kind: Kind, right: bool, tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    file.write_text(text)
    with nullcontext() if right else pytest.raises(InputError):
        read_expected(str(file), kind=kind)
    assert is_valid(text, EXPECTED_WORDS) is right
