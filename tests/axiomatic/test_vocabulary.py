"""The base names of .cat: which events and pairs of a small program they hold (Fig. 2)."""

import pytest

from rspverify.axiomatic.candidates import Candidates
from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.read_values import candidates_of
from rspverify.axiomatic.vocabulary import (
    DERIVED,
    OF_LANGUAGES,
    RELATIONS,
    WITNESS,
)
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.smt.term import TRUE
from rspverify.source import Source

# Events 0 and 1 are the initial writes of x and y; operation i is event i + 2.
TEXT = """OPENCL t
{ [x]=0; [y]=0; }
P0 (global int* x, global atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_work_group);
}
P1 (global atomic_int* y) {
  int r0 = atomic_load_explicit_remote(y, memory_order_acquire, memory_scope_device);
}
P2 (global atomic_int* y) {
  int r0 = atomic_fetch_add_explicit(y, 2, memory_order_acq_rel, memory_scope_all_svm_devices);
}
P3 (global atomic_int* y) {
  atomic_store_explicit(y, 3, memory_order_relaxed, memory_scope_device);
  *y = 4;
  int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_device);
}
scopeTree (system (device (work_group (sub_group P0 P1)) (work_group P2)) (device (work_group P3)))
"""
X0, Y0, STORE_X, RELEASE, ACQUIRE, ADD, RELAXED, PLAIN, STRONG = EVENTS = range(9)
THREADS = [{STORE_X, RELEASE}, {ACQUIRE}, {ADD}, {RELAXED, PLAIN, STRONG}]
X = {X0, STORE_X}
Y = set(EVENTS) - X


STARTED = {(start, event) for start in (X0, Y0) for event in EVENTS[2:]}


def candidates(expression: str, text: str = TEXT) -> Candidates:
    model = read_model(Source("t.cat", f"let hb = sb let it = {expression} acyclic hb as Hb"), "t")
    return candidates_of(read_program(Source("t.litmus", text)), model, Limits())


def among(*groups: set[int]) -> set[tuple[int, int]]:
    return {(a, b) for group in groups for a in group for b in group}


@pytest.mark.parametrize(
    ("name", "events"),
    [
        ("_", set(EVENTS)),
        ("R", {ACQUIRE, ADD, STRONG}),
        ("W", {X0, Y0, STORE_X, RELEASE, ADD, RELAXED, PLAIN}),
        ("RMW", {ADD}),
        ("I", {X0, Y0}),
        ("IW", {X0, Y0}),
        ("A", {RELEASE, ACQUIRE, ADD, RELAXED, STRONG}),
        ("na", {X0, Y0, STORE_X, PLAIN}),
        ("nal", {X0, STORE_X}),
        ("REL", {RELEASE}),
        ("ACQ", {ACQUIRE}),
        ("SC", {STRONG}),
        ("WG", {RELEASE}),
        ("DV", {ACQUIRE, RELAXED, STRONG}),
        ("ALL", {ADD}),
        ("rem", {ACQUIRE}),
    ],
)
def test_sets(name: str, events: set[int]) -> None:
    assert candidates(f"[{name}]").relation("it") == {(event, event): TRUE for event in events}


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("id", {(event, event) for event in EVENTS}),
        ("unv", among(set(EVENTS))),
        ("thd", among(*THREADS)),
        ("sg", among(THREADS[0] | THREADS[1], THREADS[2], THREADS[3])),
        ("wg", among(THREADS[0] | THREADS[1], THREADS[2], THREADS[3])),
        ("dv", among(THREADS[0] | THREADS[1] | THREADS[2], THREADS[3])),
        ("loc", among(X, Y)),
        *(
            (name, first | {(a, b) for group in THREADS for a in group for b in group if a < b})
            for name, first in (("sb", STARTED), ("po", set()))
        ),
    ],
)
def test_relations(name: str, pairs: set[tuple[int, int]]) -> None:
    assert candidates(name).relation("it") == dict.fromkeys(pairs, TRUE)


@pytest.mark.parametrize("name", ["mo", "co"])
def test_modification_order(name: str) -> None:
    """Between the writes of an atomic location, whatever they are; the initial one is first."""
    writes = {RELEASE, ADD, RELAXED, PLAIN}
    found = candidates(name).relation("it")
    between = {(a, b) for a in writes for b in writes if a != b}
    plain = {(X0, STORE_X)} if name == "co" else set()
    assert set(found) == between | {(Y0, write) for write in writes} | plain
    assert all(found[Y0, write] is TRUE for write in writes)
    assert all(found[b, a] is ~found[a, b] for a, b in between)


def test_reads_from() -> None:
    """Each read may read any write of its location, itself included."""
    found = candidates("rf").relation("it")
    writes = {Y0, RELEASE, ADD, RELAXED, PLAIN}
    assert set(found) == {(write, read) for write in writes for read in (ACQUIRE, ADD, STRONG)}


# ---- fences, barriers, regions, orders and scopes ------------------------------------------------

# Events 0, 1 and 2 are the initial writes of x, y and z; operation i is event i + 3, unless parts
# come before it.
WHOLE = """OPENCL t
{ [x]=1; [y]=0; [z]=0; }
P0@wg 0, dev 0 (global_fga atomic_int* x, local int* y, local atomic_int* z) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_work_item);
  atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_device);
  B1: barrier(CLK_GLOBAL_MEM_FENCE);
  if (r0 == 1) { *y = r0 + 1; }
}
P1@wg 0, dev 0 (global_fga atomic_int* x, local int* y, local atomic_int* z) {
  B1: barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
  int r1 = atomic_fetch_add_explicit(z, 2, memory_order_acq_rel, memory_scope_all_svm_devices);
}
P2@wg 1, dev 0 (global_fga atomic_int* x, local int* y, local atomic_int* z) {
  B2: barrier(CLK_LOCAL_MEM_FENCE);
  atomic_store_explicit(z, 1, memory_order_relaxed, memory_scope_work_group);
}
"""
XW, YW, ZW, LOAD_X, FENCE, ENTER, SET_Y, MEET, ADD_Z, APART, SET_Z = range(11)
EVERY = set(range(11))


@pytest.mark.parametrize(
    ("names", "events"),
    [
        ("M", {XW, YW, ZW, LOAD_X, SET_Y, ADD_Z, SET_Z}),
        ("F", {FENCE, ENTER, MEET, APART}),
        ("B", {ENTER, MEET, APART}),
        ("NA", {XW, YW, ZW, SET_Y}),
        ("NAL nonatomicloc", {YW, SET_Y}),
        ("RLX rlx memory_order_relaxed", {SET_Z}),
        ("ACQ acq memory_order_acquire", {LOAD_X}),
        ("REL rel memory_order_release", {FENCE}),
        ("ACQ_REL acq_rel memory_order_acq_rel", {ADD_Z}),
        ("SC sc memory_order_seq_cst CON con memory_order_consume", set()),
        ("WI memory_scope_work_item", {XW, YW, ZW, LOAD_X, SET_Y}),
        ("SG memory_scope_sub_group", set()),
        ("WG memory_scope_work_group", {SET_Z, ENTER, MEET, APART}),
        ("DV memory_scope_device", {FENCE}),
        ("ALL memory_scope_all_svm_devices", {ADD_Z}),
        ("GLOBAL G", {XW, LOAD_X, ENTER, MEET}),
        ("fga", {XW, LOAD_X}),
        ("LOCAL L", {YW, ZW, FENCE, SET_Y, MEET, ADD_Z, APART, SET_Z}),
        ("LK LS UL LF lk ls ul lf EF XF entry_fence exit_fence", set()),
    ],
)
def test_sets_of_the_whole_language(names: str, events: set[int]) -> None:
    if "EF" in names:  # Naming these makes two events of each barrier.
        return
    for name in names.split():
        found = candidates(f"[{name}]", WHOLE).relation("it")
        assert set(found) == {(event, event) for event in events}, name


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (
            "int wi",
            among({XW, YW, ZW}, {LOAD_X, FENCE, ENTER, SET_Y}, {MEET, ADD_Z}, {APART, SET_Z}),
        ),
        ("swg", among({LOAD_X, FENCE, ENTER, SET_Y, MEET, ADD_Z}, {APART, SET_Z})),
        ("sdv dev", among(EVERY - {XW, YW, ZW})),
        ("asw", {(a, b) for a in (XW, YW, ZW) for b in EVERY - {XW, YW, ZW}}),
        ("syncbar same_B", among({ENTER, MEET}, {APART})),
        (
            "party",
            {(a, b) for a in (ENTER, MEET) for b in range(LOAD_X, APART)}
            | {(APART, APART), (APART, SET_Z)},
        ),
        ("data ctrl", {(LOAD_X, SET_Y)}),
        ("addr", set()),
        ("loc", among({XW, LOAD_X}, {YW, SET_Y}, {ZW, ADD_Z, SET_Z})),
    ],
)
def test_relations_of_the_whole_language(names: str, pairs: set[tuple[int, int]]) -> None:
    for name in names.split():
        assert set(candidates(name, WHOLE).relation("it")) == pairs, name


def test_what_is_not_internal_is_external() -> None:
    internal = set(candidates("int", WHOLE).relation("it"))
    assert set(candidates("ext", WHOLE).relation("it")) == among(EVERY) - internal


def test_a_read_modify_write_of_two_events() -> None:
    read, write = ADD_Z, ADD_Z + 1
    assert candidates("rmw", WHOLE).relation("it") == {(read, write): TRUE}
    assert set(candidates("rmw; [W]", WHOLE).relation("it")) == {(read, write)}
    assert set(candidates("[R]; rmw", WHOLE).relation("it")) == {(read, write)}
    assert set(candidates("[RMW]; rmw; [RMW & ACQ_REL]", WHOLE).relation("it")) == {(read, write)}


@pytest.mark.parametrize(("entry", "leave"), [("EF", "XF"), ("entry_fence", "exit_fence")])
def test_a_barrier_of_two_fences(entry: str, leave: str) -> None:
    found = candidates(f"([{entry}]; sb; [{leave}]) | ([{leave}]; sb; [{entry}])", WHOLE)
    pairs = {(5, 6), (8, 9), (11, 12)}
    assert set(found.relation("it")) == pairs
    both = candidates(f"[F & B & ({entry} | {leave})]", WHOLE).relation("it")
    assert set(both) == {(event, event) for pair in pairs for event in pair}


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("fr", "(rf^-1; co) \\ id"),
        ("rfi", "rf & int"),
        ("rfe", "rf & ext"),
        ("coi", "co & int"),
        ("coe", "co & ext"),
        ("fri", "((rf^-1; co) \\ id) & int"),
        ("fre", "((rf^-1; co) \\ id) & ext"),
        ("po-loc", "po & loc"),
    ],
)
def test_derived_relations(name: str, meaning: str) -> None:
    found = candidates(name, WHOLE).relation("it")
    assert set(found) == set(candidates(meaning, WHOLE).relation("it"))


MUTEX = """C t
{ [x]=0; }
P0 (atomic_int* x, mtx_t* m) {
  mtx_lock(m);
  atomic_store_explicit(x, 1, memory_order_relaxed);
  mtx_unlock(m);
}
P1 (atomic_int* x, mtx_t* m) {
  mtx_lock(m);
  int r0 = atomic_load_explicit(x, memory_order_consume);
  mtx_unlock(m);
}
"""


def test_locks() -> None:
    lock, unlock = {2, 5}, {4, 7}
    for name, events in (("LK LS lk ls", lock), ("UL ul", unlock), ("LF lf", set())):
        for each in name.split():
            found = candidates(f"[{each}]", MUTEX).relation("it")
            assert set(found) == {(event, event) for event in events}
    for name in ("CON", "con", "memory_order_consume"):
        assert set(candidates(f"[{name}]", MUTEX).relation("it")) == {(6, 6)}
    order = candidates("lo", MUTEX).relation("it")
    assert order[2, 4] is TRUE and order[5, 7] is TRUE
    assert {frozenset(pair) for pair in order} == {
        frozenset(pair) for pair in among(lock | unlock) if pair[0] != pair[1]
    }


IN_ASSEMBLY = """AArch64 t
{ 0:X1=x; 0:X2=y; 0:X9=z; }
 P0 ;
 LDR W3,[X1] ;
 CMP W3,#1 ;
 MOV W4,#1 ;
 CSEL W5,W4,W4,EQ ;
 STR W5,[X2] ;
 LDXR W6,[X1] ;
 STXR W7,W6,[X1] ;
 SWP W6,W8,[X9] ;
 CSEL W5,W4,W4,EQ ;
 ADD X9,X9,W5,SXTW ;
 CBZ W5,L ;
 L: ;
 DMB SY ;
"""
LOAD, STORE, LX, SX, SWAP_READ, SWAP_WRITE, BARRIER = range(3, 10)


IN_PTX = """PTX t
{ x=0; y @ generic aliases x; s @ surface aliases x; 0:r9=0; }
 P0@cta 0,gpu 0         | P1@cta 1,gpu 0         | P2@cta 0,gpu 0 ;
 st.release.cta x, 1    | ld.acquire.gpu r0, y   | ld.relaxed.gpu r0, y ;
 fence.sc.gpu           | fence.sc.gpu           | fence.sc.cta ;
 bar.cta.sync 1         | bar.cta.sync 1         | bar.cta.arrive 1 ;
 atom.acq_rel.gpu.add r1, x, 1 | sust.weak s, 2  | ;
"""
PTX_STORE, PTX_SC0, PTX_BAR0, PTX_READ, PTX_WRITE = range(1, 6)
PTX_LOAD1, PTX_SC1, PTX_BAR1, PTX_SURFACE, PTX_LOAD2, PTX_SC2, PTX_ARRIVE = range(6, 13)

IN_VULKAN = """Vulkan t
{ x=0; y aliases x; }
{ ssw 0 1; }
 P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 | P2@sg 0,wg 0,qf 0 ;
 st.sc0 x, 1       | ld.sc0 r0, y      | visdevice ;
"""


def ends(name: str, text: str) -> set[tuple[int, int]]:
    model = read_model(Source("t.cat", f"let it = {name} let r = rmw | co acyclic r as R"), "t")
    program = read_program(Source("t.litmus", text), assembly=True)
    return set(candidates_of(program, model, Limits()).relation("it"))


@pytest.mark.parametrize(
    ("name", "text", "pairs"),
    [
        ("amo", IN_ASSEMBLY, {(SWAP_READ, SWAP_WRITE)}),
        ("lxsx", IN_ASSEMBLY, {(LX, SX)}),
        ("rmw", IN_ASSEMBLY, {(SWAP_READ, SWAP_WRITE), (LX, SX)}),
        ("data", IN_ASSEMBLY, {(LOAD, STORE), (LX, SX), (LX, SWAP_WRITE)}),
        ("pick-data", IN_ASSEMBLY, {(LOAD, STORE)}),
        ("ctrl", IN_ASSEMBLY, {(LOAD, BARRIER)}),
        ("pick-ctrl", IN_ASSEMBLY, {(LOAD, BARRIER)}),
        ("pick-addr", IN_ASSEMBLY, set()),
        ("si", IN_ASSEMBLY, {(it, it) for it in range(10)}),
        ("vloc", IN_VULKAN, {(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)}),
        ("ssg", IN_VULKAN, {(1, 1), (1, 3), (3, 1), (3, 3), (2, 2)}),
        ("sqf", IN_VULKAN, among({1, 2, 3}) | {(it, it) for it in (1, 2, 3)}),
        ("ssw", IN_VULKAN, {(1, 2)}),
        ("[F]", IN_VULKAN, set()),
        ("[VISDEVICE]", IN_VULKAN, {(3, 3)}),
        ("syncbar", IN_PTX, {(2 + 1, 3), (PTX_ARRIVE, PTX_BAR0), (PTX_BAR1, PTX_BAR1)}),
        (
            "sync_fence",
            IN_PTX,
            {(PTX_SC0, PTX_SC1), (PTX_SC1, PTX_SC0), (PTX_SC0, PTX_SC2)} | {(PTX_SC2, PTX_SC0)},
        ),
        (
            "sr & ext & ([M]; unv; [M])",
            IN_PTX,
            {
                *((a, b) for a in (PTX_READ, PTX_WRITE) for b in (PTX_LOAD1, PTX_LOAD2)),
                *((b, a) for a in (PTX_READ, PTX_WRITE) for b in (PTX_LOAD1, PTX_LOAD2)),
                (PTX_LOAD1, PTX_LOAD2),
                (PTX_LOAD2, PTX_LOAD1),
                (PTX_STORE, PTX_LOAD2),
                (PTX_LOAD2, PTX_STORE),
            },
        ),
        (
            "[SUR]; (vloc & ext); [W]",
            IN_PTX,
            {(PTX_SURFACE, PTX_STORE), (PTX_SURFACE, 0)} | {(PTX_SURFACE, PTX_WRITE)},
        ),
        (
            "scta & ext & ([F & SC]; unv; [F & SC])",
            IN_PTX,
            {(PTX_SC0, PTX_SC2), (PTX_SC2, PTX_SC0)},
        ),
        ("data", IN_PTX, {(PTX_READ, PTX_WRITE)}),
        ("[ACQ]", IN_PTX, {(PTX_READ, PTX_READ), (PTX_LOAD1, PTX_LOAD1)}),
    ],
)
def test_relations_of_assembly(name: str, text: str, pairs: set[tuple[int, int]]) -> None:
    assert ends(name, text) == pairs


BARRIER_AND_SPIN = """Vulkan t
{ x=0; f=0; }
 P0@sg 0,wg 0,qf 0         | P1@sg 1,wg 0,qf 0         | P2@sg 0,wg 1,qf 0 ;
 st.av.dv.sc0 x, 1         | cbar.acq_rel.wg.semsc0 0  | st.atom.dv.sc0 f, 1 ;
 L:                        | ld.vis.dv.sc0 r0, x       | ;
 ld.atom.dv.sc0 r9, f      |                           | ;
 beq r9, 0, L              |                           | ;
 cbar.acq_rel.wg.semsc0 0  |                           | ;
"""


def test_nobody_comes_past_a_barrier_while_others_spin_before_it() -> None:
    """Races are looked for in executions that do not end, too."""
    model = load_model("vulkan")
    for text, races in (
        (BARRIER_AND_SPIN, False),
        (BARRIER_AND_SPIN.replace(" 0  |", " 1  |", 1), True),
    ):
        program = read_program(Source("t.litmus", text), assembly=True)
        assert (Questions(program, model, Limits()).race() is not None) is races


def test_the_order_of_writes_is_partial_in_ptx() -> None:
    """Two weak writes may be in no order, and either may be left in the end."""
    text = "PTX t\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st x, 1 | st x, 2 ;\n"
    program = read_program(Source("t.litmus", text), assembly=True)
    model = read_model(Source("t.cat", "empty co & ext & (([W \\ IW]; unv; [W])) as None"), "t")
    questions = Questions(program, model, Limits())
    assert {it.memory for it in questions.outcomes()} == {(("x", 1),), (("x", 2),)}


def test_every_base_name_is_tested() -> None:
    def names(*tests: object) -> set[str]:
        rows = [row for test in tests for row in test.pytestmark[0].args[1]]  # type: ignore[attr-defined]
        return {name for row in rows for name in row[0].split()}

    assert names(test_sets, test_sets_of_the_whole_language) == set(OF_LANGUAGES)
    of_assembly = {"amo", "lxsx", "pick-addr", "pick-ctrl", "pick-data"}
    of_assembly |= {"sr", "scta", "ssg", "sqf", "ssw", "vloc"}
    assert names(test_relations, test_relations_of_the_whole_language) | of_assembly | {
        "ext",
        "rmw",
        "si",
    } == set(RELATIONS)
    assert names(test_derived_relations) == set(DERIVED)
    witness = {*WITNESS}
    assert witness == {"rf", "mo", "co", "lo", "sync_fence"}


GUARDED = """OPENCL t
{ [x]=0; [y]=0; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
  if (r0 == 1) { atomic_store_explicit(y, 1, memory_order_release, memory_scope_device); }
}
P1@wg 0, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
}
"""


def test_what_is_not_executed_is_in_nothing() -> None:
    load, store, other = 2, 3, 4
    found = candidates("unv", GUARDED)
    executed = found.executed[store]
    assert executed is found.read[load][1]
    pairs = found.relation("it")
    assert pairs[store, store] is pairs[load, store] is pairs[store, other] is executed
    assert pairs[load, other] is TRUE
    assert candidates("[W]", GUARDED).relation("it").keys() == {(i, i) for i in (0, 1, 3, 4)}
    ordered = candidates("sb", GUARDED)
    assert ordered.relation("it")[load, store] is ordered.executed[store]
    assert (load, other) not in ordered.relation("it")
