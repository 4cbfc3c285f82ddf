"""What the server answers, over HTTP."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path

import pytest
from server.hostile import Attacks, attacked, wrong
from server.instances import Instance, family, memory_of, shipped

PROPOSED, ORIGINAL = (shipped(f"schemes/{name}.yaml") for name in ("proposed", "original"))
FIG4, FIG5 = (shipped(f"litmus/rsp/paper/{name}.litmus") for name in ("Fig4", "Fig5"))


def test_a_verdict_and_what_it_rests_on(instance: Instance) -> None:
    reply = instance.ask("answer", scheme=ORIGINAL, test=FIG4)
    assert [name for name, _ in reply.events] == ["read", "verdict", "verdict", "answer", "end"]
    first, second = reply.of("verdict")
    assert (first["verdict"], first["going_on"], first["claim"]) == ("UNSOUND", True, "UNSOUND")
    assert (second["progress"], second["claim"]) == ("LIVE", "UNSOUND")
    (answer,) = reply.of("answer")
    assert answer["rows"] == [2]
    assert "<rsp-execution" in answer["html"] and "<svg" in answer["html"]
    assert "the execution below was replayed" in answer["html"]


def test_of_a_sound_test_the_outcomes(instance: Instance) -> None:
    (answer,) = instance.ask("answer", scheme=PROPOSED, test=FIG4).of("answer")
    for words in (
        "1:r0=1 1:r1=42 x=42 y=1",
        "reached",
        "reaches 2 of the 2",
        "Exact: it holds for every execution",
    ):
        assert words in answer["html"]


def test_who_waits_for_whom(instance: Instance) -> None:
    scheme = PROPOSED.replace("FLU_L1 WG, INV_L1 DV, UL_rmw DV]", "FLU_L1 WG, INV_L1 DV]")
    reply = instance.ask("answer", scheme=scheme, test=FIG5)
    assert reply.of("verdict")[-1]["claim"] == "SOUND STUCK"
    assert "waits for the rmw d0 w0, held by P1" in reply.of("answer")[0]["html"]


def test_all_mistakes_of_all_texts_at_their_places(instance: Instance) -> None:
    texts = {
        "scheme": PROPOSED.replace("LD r x, INV_L1 WG", "LD r x, INV_L WG"),
        "test": FIG4.replace("r0 == 1", "r7 == 1"),
        "own_model": '"m"\nacyclic rff as A',
        "own_machine": shipped_machine().replace("\nplaces ", "\nplace "),
    }
    reply = instance.ask(**texts)
    assert [name for name, _ in reply.events] == ["read", "end"]
    problems = reply.of("read")[0]["problems"]
    assert {it["file"] for it in problems} == {
        "scheme.yaml",
        "test.litmus",
        "own.cat",
        "own.machine",
    }
    (scheme,) = (it for it in problems if it["file"] == "scheme.yaml")
    assert scheme["place"] == {"line": 10, "column": 59, "end_line": 10, "end_column": 64}
    assert scheme["hint"] == "did you mean INV_L1?"
    assert scheme["text"].startswith("scheme.yaml:10:59: an instruction must be one of")


def shipped_machine() -> str:
    from rspverify.architecture.machines import text_of

    return text_of("rsp")


def test_a_machine_and_a_model_of_ones_own(instance: Instance) -> None:
    model = (
        '"own"\ninclude "opencl-incl-common.cat"\ninclude "opencl-hb-common.cat"\nacyclic hb as Hb'
    )
    texts = {"own_machine": shipped_machine(), "own_model": model}
    (answer,) = instance.ask("answer", scheme=ORIGINAL, test=FIG5, **texts).of("verdict")[-1:]
    assert answer["verdict"] == "SOUND", "the axiom that forbids it is left out"


def test_the_table_as_it_stands_in_the_text(instance: Instance) -> None:
    (read,) = instance.ask(scheme=PROPOSED, test=FIG4).of("read")
    rows = read["table"]["rows"]
    assert len(rows) == 9
    assert rows[1]["fields"] == {
        "op": "load",
        "scope": "dv",
        "remote": "false",
        "code": "[LD r x, INV_L1 WG]",
    }
    assert rows[1]["place"]["line"] == 10 and rows[5]["place"]["line"] == 25


TARGETS = "litmus/targets"
POWER = {
    "scheme": shipped("schemes/c11/c11-power-leading.yaml"),
    "test": shipped(f"{TARGETS}/seq_cst/Z6.U.litmus"),
    "model": "c11-simp",
}
QEMU = {
    "scheme": shipped("schemes/translators/x86-aarch64-qemu.yaml"),
    "test": shipped(f"{TARGETS}/from-x86/SB+cmpxchg-fails.litmus"),
    "model": "x86-tso",
}
MIXED = {
    "scheme": shipped("schemes/mixed/c11-riscv-manual.yaml"),
    "test": shipped(f"{TARGETS}/seq_cst/SB.litmus"),
    "model": "c11-simp",
}


@pytest.mark.parametrize(
    ("asked", "runs_on", "columns", "row"),
    [
        (POWER, "power", "op scope order code", {"op": "load", "scope": "na"}),
        (QEMU, "aarch64", "from code", {"from": '"MOV r, [x]"'}),
        (MIXED, "riscv", "op scope order code", None),
    ],
)
def test_tables_for_targets_are_schemes_too(
    instance: Instance, asked: dict[str, str], runs_on: str, columns: str, row: dict[str, str]
) -> None:
    reply = instance.ask("answer", **asked)
    table = reply.of("read")[0]["table"]
    assert (table["runs_on"], " ".join(table["columns"])) == (runs_on, columns)
    rows = table["rows"]
    assert rows[0]["fields"].items() >= row.items() if row else rows == []
    assert reply.of("verdict")[-1]["claim"] == "UNSOUND"
    html = reply.of("answer")[0]["html"]
    assert "was found again by brute force" in html
    assert "What the model forbids" in html and "What the target allows" in html


def test_a_corpus_decides_again_only_what_an_edit_touches(instance: Instance) -> None:
    asked = {"kind": "corpus", "corpus": "litmus/all-orders"}
    scheme = shipped("schemes/proposed-full.yaml")
    first = instance.ask(**asked, scheme=scheme).of("cell")
    edited = re.sub(r"(op: rmw.*\n?.*code: \[)", r"\1INV_L1 WG, ", scheme, count=1)
    assert edited != scheme
    again = instance.ask(**asked, scheme=edited).of("cell")
    assert [it["file"] for it in again] == [it["file"] for it in first]
    assert not any(it["cached"] for it in first if it["words"].startswith("SOUND"))
    cached = sum(it["cached"] for it in again)
    assert len(again) // 2 < cached < len(again)


def test_all_programs_are_told_of_in_a_line_and_in_full(instance: Instance) -> None:
    words = {}
    quickrelease = shipped("schemes/quickrelease.yaml")
    for scheme in (PROPOSED, ORIGINAL, quickrelease):
        (proof,) = instance.ask("prove", scheme=scheme).of("proof")
        words[scheme] = [text for text, kind in proof["line"] if kind]
        assert words[scheme][0] in proof["html"]
    assert words[PROPOSED] == ["PROVED", "LIVE"]
    assert words[ORIGINAL] == ["UNSOUND", "STUCK"]
    assert words[quickrelease] == ["NO PROOF"]
    wrong = instance.ask("prove", scheme="rows: 1").events
    assert wrong[0][0] == "read" and wrong[0][1]["problems"]


def test_runs_are_told_as_they_go(instance: Instance) -> None:
    two = {"operations": 2, "threads": 2}
    hunt = instance.ask("hunt", scheme=ORIGINAL, **two)
    names = [name for name, _ in hunt.events]
    assert names == ["total", "report", "finding", "report", "end"]
    assert hunt.of("finding")[0]["program"] == "r0=inc.WG x || st.DV.R x 10"
    assert hunt.of("finding")[0]["text"].startswith("OpenCL ")
    folder = "litmus/amdgpu"
    gfx9 = shipped("schemes/amdgpu/gfx900.yaml")
    compared = instance.ask("compare", before=gfx9, scheme=gfx9, corpus=folder, model="opencl")
    assert compared.events[-1][0] == "end" and len(compared.of("done")) > 10
    wrong = instance.ask("mutate", scheme="name: x", corpus=folder)
    assert wrong.of("read")[0]["problems"][0]["message"] == "a scheme must have the key rows"


def test_what_was_answered_is_answered_again_at_once(instance: Instance) -> None:
    first, second = (instance.ask(scheme=PROPOSED, test=f"{FIG4}\n") for _ in range(2))
    assert first.text == second.text


# ---- who may ask what ----


def test_every_response_has_the_policy(instance: Instance) -> None:
    paths = ("/", "/catalogue.json", "/built/page.js", "/report/page.css", "/nothing", "/files/x")
    for path in paths:
        headers = instance.request("GET", path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    first, second = (instance.request("GET", "/").text for _ in range(2))
    nonces = [re.search(r'data-nonce="([^"]+)"', text)[1] for text in (first, second)]  # type: ignore[index]
    assert nonces[0] != nonces[1]
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", first)


def test_another_site_cannot_ask(instance: Instance) -> None:
    body = json.dumps({"kind": "verdict", "scheme": "", "test": ""}).encode()
    assert instance.post(body, Host="evil.example").status == 400
    assert instance.post(body, Content_Type="text/plain").status == 415
    assert instance.post(body).status == 200


def test_a_public_one_may_have_any_name(public: Instance) -> None:
    assert public.request("GET", "/", Host="rspverify.example").status == 200
    assert "This is a public instance" in public.request("GET", "/").text


def test_files_are_told_by_name_alone(instance: Instance) -> None:
    assert instance.request("GET", "/files/schemes/proposed.yaml").text == PROPOSED
    assert instance.request("GET", "/files/machines/rsp.machine").text == shipped_machine()
    for path in ("/etc/passwd", "../pyproject.toml", "%2e%2e/pyproject.toml", "schemes"):
        assert instance.request("GET", f"/files/{path}").status == 404


def test_what_is_too_large_is_refused(public: Instance) -> None:
    reply = public.ask(scheme="x" * 300_000)
    assert (reply.status, reply.text) == (413, "a question must have at most 200,000 bytes")


def test_beyond_its_time_it_is_unknown_and_says_so(public: Instance) -> None:
    before = set(family(public.pid))
    reply = public.ask(scheme=PROPOSED, test=crowd())
    words = [data.get("reason") or data.get("message") for _, data in reply.events]
    assert any("limit" in word or "timeout" in word for word in filter(None, words)), reply.text
    assert "SOUND" not in {each["verdict"] for each in reply.of("verdict")}
    assert public.ask(scheme=PROPOSED, test=FIG4).of("verdict")[-1]["claim"] == "SOUND"
    assert len(family(public.pid)) <= len(before) + 1


def crowd() -> str:
    """A test that is not decided within seconds."""
    call = "atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_work_group)"
    body = "\n".join(f"  int r{n} = {call};" for n in range(6))
    threads = [f"P{n} (global atomic_int* x) {{\n{body}\n}}\n" for n in range(9)]
    tree = " ".join(f"(work_group P{n})" for n in range(9))
    return f"OpenCL crowd\n{{ [x]=0; }}\n{''.join(threads)}\nscopeTree (device {tree})\nexists (0:r0=0)\n"


def test_hostile_inputs(public: Instance, tmp_path: Path) -> None:
    """A few of those that `python -m server.hostile 10000` draws."""
    secret = tmp_path / "secret.cat"
    secret.write_text("let a-line-that-nobody-may-read\n")
    attacks = Attacks(7, secret)
    drawn = islice(iter(attacks.draw, None), 30)
    replies = list(attacked(public, drawn, clients=2))
    assert len(replies) == 30
    assert [(it.name, wrong(it, reply)) for it, reply in replies if wrong(it, reply)] == []
    assert public.request("GET", "/").status == 200
    assert memory_of(public.pid) < 1_000 * 2**20
