"""Each construct of the language, and what it becomes."""

import pytest
from architecture.texts import BASE, instruction, read, step

from rspverify.architecture import architecture as files
from rspverify.architecture.architecture import REACH, CellAt, CellKind, Holds, Lacks, Places, Sort

M = read("")
KINDS = {str(each): each for each in M.cells}


def at(name: str, location: str | None = "x", place: str | None = None) -> CellAt:
    """A cell by the name of its kind."""
    kind = KINDS.get(f"{name}[x]") or KINDS[name]
    return CellAt(kind, place, location if kind.located else None)


def holds(name: str, value: bool = True, location: str = "x", place: str | None = None) -> Holds:
    return Holds(at(name, location, place), value)


def test_what_there_is() -> None:
    assert (M.name, M.summary) == ("m", "a machine")
    assert M.places == ("thread", "workgroup", "device", "system")
    assert M.reaches == {"WG": "workgroup", "DV": "device", "SY": "system"}
    assert M.spaces == ("global", "shared")
    assert (M.kinds.alike, M.kinds.open) == ({}, ())
    assert (M.instructions, M.steps, M.always, M.complete, M.final) == ({}, (), (), (), None)
    assert M.cells[:3] == (
        CellKind("memory", "", Sort.VALUE, "system", True),
        CellKind("lock", "", Sort.LOCK, "device", True),
        CellKind("L2", "data", Sort.VALUE, "device", True),
    )
    assert KINDS["L1.VALID[x]"] == CellKind("L1", "VALID", Sort.BIT, "workgroup", True, True)
    assert KINDS["L1.fifo"] == CellKind("L1", "fifo", Sort.FIFO, "workgroup", False)
    assert KINDS["pool"] == CellKind("pool", "", Sort.POOL, "thread", False)
    assert len(M.cells) == 6 + 2 * 4


def test_without_a_line_on_spaces_memory_is_global() -> None:
    assert read("", BASE.replace("spaces global, shared", "")).spaces == ("global",)


def test_a_place_of_its_own() -> None:
    found = read(
        "",
        "machine m places thread < workgroup < cu per workgroup < device < system"
        " state { L0 : lock of cu }"
        " instruction A when ready L0 do take L0"
        " instruction B when each cu c in device: ready c.L0 do nothing"
        " step S of cu when each thread t in cu: ready t.L0 do free L0",
    )
    assert found.kinds.alike == {"cu": "workgroup"}
    assert found.cells[0].place == "cu"


def test_places_that_programs_say_nothing_of() -> None:
    kinds = read(
        "",
        "machine m places thread < workgroup < any wgp < device < system, thread < any cu < wgp"
        " state { L0 : lock of cu  lds : lock of wgp }"
        " instruction A when ready L0, ready lds do take L0"
        " step S of wgp when each cu c in wgp: ready c.L0 do free lds",
    ).kinds
    assert kinds.open == ("cu", "wgp")
    assert kinds.names == ("thread", "workgroup", "cu", "wgp", "device", "system")
    assert kinds.contains("wgp", "cu") and kinds.contains("wgp", "workgroup")
    assert not kinds.contains("cu", "workgroup") and not kinds.contains("workgroup", "cu")


def test_switches() -> None:
    found = read(
        'switch A "one" switch B = true switch C intended "two" "as it says" '
        "instruction ST r x do if A { memory[x] := r }; if not B { nothing }"
    )
    assert found.switches == (
        files.Switch("A", "one"),
        files.Switch("B", "", on=True),
        files.Switch("C", "two", files.Status.INTENDED, on=True, document="as it says"),
    )
    (effect,) = found.instructions["ST"].effects
    assert isinstance(effect, files.If) and effect.conditions == (files.IsSwitched("A"),)


def test_names_of_several_words() -> None:
    found = read('instruction "ld  glc" r x do r := memory[x] instruction ld r x do r := memory[x]')
    assert list(found.instructions) == ["ld glc", "ld"]
    first = found.instructions["ld glc"]
    assert (first.stem, first.modifiers, first.written("rx")) == ("ld", ("glc",), "ld r x glc")


def test_final_complete_and_always() -> None:
    found = read(
        "final memory\n"
        "complete when each workgroup w, location y: clean(w.L1, y), each thread t: empty t.pool\n"
        "always when each workgroup w: no marker in w.L1.fifo"
    )
    w = Places("w", "workgroup")
    assert found.final == KINDS["memory[x]"]
    assert found.complete == (
        files.All(w, (files.All(files.Locations("y"), (holds("L1.DIRTY", False, "y", "w"),)),)),
        files.All(Places("t", "thread"), (Lacks(at("pool", place="t")),)),
    )
    assert found.always == (files.All(w, (Lacks(at("L1.fifo", place="w"), files.MarkerOf()),)),)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("L1.VALID[x]", holds("L1.VALID")),
        ("not L1.VALID[x]", holds("L1.VALID", False)),
        ("clean(L2, x)", holds("L2.DIRTY", False)),
        (
            "L1.VALID[x] or not L2.VALID[x]",
            files.Either((holds("L1.VALID"), holds("L2.VALID", False))),
        ),
        (
            "clean(L1, x) or L1.VALID[x]",
            files.Either((holds("L1.DIRTY", False), holds("L1.VALID"))),
        ),
        ("ready lock[x]", files.IsReady(at("lock"))),
        ("ready rmw", files.IsReady(at("rmw"))),
        ("empty queue[x]", Lacks(at("queue"))),
        ("empty pool", Lacks(at("pool"))),
        ("no marker in L1.fifo", Lacks(at("L1.fifo"), files.MarkerOf())),
        ("no I in pool", Lacks(at("pool"), None, ("I",))),
        ("no own I, I of x in pool", Lacks(at("pool"), None, ("I", "I"), True, "x")),
        ("self in pool", files.IsIn(at("pool"))),
        ("x is shared", files.InSpace("x", "shared")),
        ("x is not shared", files.InSpace("x", "shared", False)),
        (
            "each workgroup w in device, location y: w.L1.VALID[y]",
            files.All(
                Places("w", "workgroup", "device"),
                (files.All(files.Locations("y"), (holds("L1.VALID", True, "y", "w"),)),),
            ),
        ),
        (
            "each workgroup w { ready w.rmw, w.L1.VALID[x] }",
            files.All(
                Places("w", "workgroup"),
                (files.IsReady(at("rmw", place="w")), holds("L1.VALID", place="w")),
            ),
        ),
    ],
)
def test_conditions(text: str, condition: object) -> None:
    assert instruction(f"when {text} do r := memory[x]").conditions == (condition,)


def test_conditions_stand_in_their_order() -> None:
    found = instruction("when ready rmw, clean(L1, x), ready lock[x] do r := memory[x]")
    assert found.conditions == (
        files.IsReady(at("rmw")),
        holds("L1.DIRTY", False),
        files.IsReady(at("lock")),
    )


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("r := L1.data[x]", files.Read(at("L1.data"))),
        ("memory[x] := r", files.Write(at("memory"), files.Written.VALUE)),
        ("memory[x] := L1.data[x]", files.CopyTo(at("memory"), at("L1.data"))),
        ("L1.VALID[x] := false", files.SetTo(at("L1.VALID"), False)),
        ("take rmw", files.Take(at("rmw"))),
        ("free lock[x]", files.Free(at("lock"))),
        ("if L1.VALID[x], ready rmw { take rmw }",
         files.If((holds("L1.VALID"), files.IsReady(at("rmw"))), (files.Take(at("rmw")),))),
        ("each device d: free d.lock[x]", files.Each(Places("d", "device"), (files.Free(at("lock", place="d")),))),
        ("each location y { free lock[y]; take lock[y] }",
         files.Each(files.Locations("y"), (files.Free(at("lock", "y")), files.Take(at("lock", "y"))))),
    ],
)  # fmt: skip
def test_effects(text: str, effect: object) -> None:
    assert instruction(f"do copy[x] := r; {text}").effects[1:] == (effect,)


def test_what_is_written_of_what_is_read() -> None:
    for text, what in (
        ("r", files.Written.VALUE),
        ("r + n", files.Written.SUM),
        ("f(r)", files.Written.ANY),
    ):
        found = instruction(f"do r := memory[x]; memory[x] := {text}")
        assert found.effects == (files.Read(at("memory")), files.Write(at("memory"), what))


def test_a_definition_stands_for_its_body() -> None:
    found = instruction("do r := memory[x]; store(L1, x, f(r)); store(L2, x, memory[x]);")
    assert found.effects == (
        files.Read(at("memory")),
        files.Write(at("L1.data"), files.Written.ANY),
        files.SetTo(at("L1.DIRTY"), True),
        files.CopyTo(at("L2.data"), at("memory")),
        files.SetTo(at("L2.DIRTY"), True),
    )


def test_a_definition_is_given_places_cells_locations_and_bits() -> None:
    found = read(
        "define set(B, y, b) do B[y] := b\n"
        "define unlock(w) do free w.rmw\n"
        "define both(C, w, y) do set(C.VALID, y, false); unlock(w)\n"
        "step S of device, location x do each workgroup w: both(w.L1, w, x)"
    )
    effects = (files.SetTo(at("L1.VALID", place="w"), False), files.Free(at("rmw", place="w")))
    assert found.steps[0].effects == (files.Each(Places("w", "workgroup"), effects),)


def test_variables_of_a_definition_are_not_those_around_it() -> None:
    """What is called alike is told apart, so that nothing means another than where it is written."""
    found = step(
        "define all(C) do each location y: C.VALID[y] := false\n"
        "define copies(z) do each location y: L1.data[y] := L1.data[z]\n"
        "step S of workgroup, location y do copies(y); all(L1)"
    )
    inner = files.CopyTo(at("L1.data", "y2"), at("L1.data", "y"))
    assert found.variables == (files.Locations("y"),)
    assert found.effects == (
        files.Each(files.Locations("y2"), (inner,)),
        files.Each(files.Locations("y2"), (files.SetTo(at("L1.VALID", "y2"), False),)),
    )


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("workgroup w", Places("w", "workgroup")),
        ("workgroup w in device", Places("w", "workgroup", "device")),
        ("workgroup w in s", Places("w", "workgroup", REACH)),
        ("device d in workgroup", Places("d", "device", "workgroup")),
        ("thread u outside workgroup", Places("u", "thread", None, "workgroup")),
        ("other thread u in workgroup", Places("u", "thread", "workgroup", None, True)),
        ("other workgroup w", Places("w", "workgroup", other=True)),
    ],
)
def test_which_places(text: str, places: Places) -> None:
    variable = places.variable
    found = instruction(
        f"do each {text}: take {variable}.rmw; each workgroup w in s: take w.rmw"
        if places.kind != "device"
        else f"do each {text}, location y: take {variable}.lock[y]; each workgroup w in s: take w.rmw",
        "I s of DV",
    )
    effect = found.effects[0]
    assert isinstance(effect, files.Each) and effect.binder == places


def test_locations_of_a_space() -> None:
    found = step(
        "step S of thread, shared location x do each global location y: copy[y] := copy[x]"
    )
    assert found.variables == (files.Locations("x", "shared"),)
    assert found.effects == (
        files.Each(files.Locations("y", "global"), (files.CopyTo(at("copy", "y"), at("copy")),)),
    )


def test_operands_and_reaches() -> None:
    found = instruction("do each workgroup w in s: take w.rmw", "LK s of DV, SY")
    assert (found.name, found.operands, found.reaches) == ("LK", "s", ("DV", "SY"))
    assert instruction("do memory[x] := r", "st x r").operands == "xr"


@pytest.mark.parametrize("name", ["membar.cta", "ds_read_b32", "s-waitcnt", "ld.global.b32"])
def test_names_of_instructions(name: str) -> None:
    assert instruction("do r := memory[x]", f"{name} r x").name == name
    assert instruction(
        f"when no {name}, {name} in pool do r := memory[x]", f"{name} r x"
    ).conditions


def test_an_instruction_that_does_nothing_says_so() -> None:
    found = instruction("do nothing", "FLU s of DV")
    assert (found.conditions, found.effects) == ((), ())


def test_an_instruction_may_only_wait() -> None:
    assert instruction("when no own I in pool", "I").effects == ()


def test_steps() -> None:
    found = read(
        "step DEQLOC of workgroup, location x when oldest L1.fifo is x do dequeue L1.fifo\n"
        "step DEQMARKER of device, thread t when oldest L2.fifo is marker of t do dequeue L2.fifo\n"
        "step DEQOWN of thread when oldest L1.fifo is marker do dequeue L1.fifo"
    )
    loc, marker, own = found.steps
    assert (loc.name, loc.place, loc.variables) == ("DEQLOC", "workgroup", (files.Locations("x"),))
    assert loc.conditions == (files.IsOldest(at("L1.fifo"), files.LocationElement("x")),)
    assert loc.effects == (files.Leave(at("L1.fifo")),)
    assert marker.variables == (Places("t", "thread"),)
    assert marker.conditions == (files.IsOldest(at("L2.fifo"), files.MarkerOf("t")),)
    assert own.conditions == (files.IsOldest(at("L1.fifo"), files.MarkerOf()),)


def test_accesses_that_complete_later() -> None:
    found = instruction(
        "do enqueue self in queue[x]\n"
        "later DRAIN when oldest queue[x] is self, no own I of x in pool\n"
        "  do dequeue queue[x]; add self to pool\n"
        "later BORROW for thread u outside workgroup when self in pool\n"
        "  do remove self from pool; r := u.copy[x]"
    )
    assert found.effects == (files.Enter(at("queue"), files.Element.SELF),)
    drain, borrow = found.later
    assert drain.place == borrow.place == "thread"
    assert drain.conditions[0] == files.IsOldest(at("queue"), files.Element.SELF)
    assert drain.effects == (files.Leave(at("queue")), files.Enter(at("pool"), files.Element.SELF))
    assert borrow.variables == (Places("u", "thread", None, "workgroup"),)
    assert borrow.effects == (files.Leave(at("pool")), files.Read(at("copy", place="u")))


def test_a_definition_may_have_later_steps() -> None:
    text = (
        "define begun(q, y) do enqueue self in q later OWN for thread u outside workgroup\n"
        "  when oldest q is self do dequeue q; r := u.copy[y]\n"
        "define twice(y) do begun(queue[y], y); add self to pool\n"
        "later POOL when self in pool do remove self from pool\n"
    )
    found = read(text + "instruction I r x do twice(x) later LAST when self in pool do take rmw")
    written = read(
        "instruction I r x do enqueue self in queue[x]; add self to pool\n"
        "later OWN for thread u outside workgroup when oldest queue[x] is self\n"
        "  do dequeue queue[x]; r := u.copy[x]\n"
        "later POOL when self in pool do remove self from pool\n"
        "later LAST when self in pool do take rmw"
    ).instructions["I"]
    assert found.instructions["I"] == written


def test_markers_and_locations_enter_fifos() -> None:
    found = read(
        "instruction FLU s of SY do each device d in s: enqueue marker in d.L2.fifo\n"
        "step IN of device, location y do enqueue y in L2.fifo\n"
        "step OUT of device, location y when oldest L2.fifo is y do dequeue L2.fifo"
    )
    (effect,) = found.instructions["FLU"].effects
    assert effect == files.Each(
        Places("d", "device", REACH), (files.Enter(at("L2.fifo", place="d"), files.MarkerOf()),)
    )
    assert found.steps[0].effects == (files.Enter(at("L2.fifo"), files.LocationElement("y")),)


def test_a_variable_stands_for_what_its_place_lies_in() -> None:
    found = step("step S of system do each thread t: take_(t)\ndefine take_(t) do free t.rmw")
    assert found.effects == (
        files.Each(Places("t", "thread"), (files.Free(at("rmw", place="t")),)),
    )


def test_comments_and_lines_count_for_nothing() -> None:
    one = read("instruction I r x do r := memory[x]")
    two = read('# "\ninstruction # a comment\n  I\nr x\n\n do r\n:=memory [ x ]; # end')
    assert one == two
