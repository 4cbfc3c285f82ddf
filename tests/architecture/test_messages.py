"""Each mistake is told in words that say where it is, what must be otherwise, and what to do."""

import pytest
from architecture.texts import NAME, problems, read, told

from rspverify.architecture.catalogue import shipped
from rspverify.architecture.problems import MAX_PROBLEMS
from rspverify.architecture.reader import read_architecture
from rspverify.source import InputError, Source
from rspverify.wording import alternatives

HEAD = "instruction I r x "

NAMES = [
    (
        HEAD + "do r := L1.dat[x]",
        ["1:30 dat must be a cell of L1: data, DIRTY, VALID or fifo (did you mean data?)"],
    ),
    (
        HEAD + "do r := L3.data[x]",
        [
            "1:27 L3 must be a variable or a part of the state (memory, lock, L2, rmw, L1, queue, pool, copy)"
        ],
    ),
    (
        HEAD + "do r := data[x]",
        [
            "1:27 data must be a variable or a part of the state (memory, lock, L2, rmw, L1, queue, pool, copy) (did you mean L2.data?)"
        ],
    ),
    (
        HEAD + "do r := zzzz",
        [
            "1:27 zzzz must be a variable or a part of the state (memory, lock, L2, rmw, L1, queue, pool, copy)"
        ],
    ),
    (HEAD + "do r := L1.data[y]", ["1:34 y must be a location that is named here: x"]),
    (
        HEAD + "do r := L1.data",
        ["1:27 L1.data must have a location: there is one for each (such as L1.data[x])"],
    ),
    (
        HEAD + "do r := L1[x]",
        [
            "1:29 L1 must have its location behind a cell (its cells are L1.data, L1.DIRTY, L1.VALID, L1.fifo)"
        ],
    ),
    (HEAD + "do r := rmw[x]", ["1:30 rmw has no locations: there is one for all"]),
    (HEAD + "do r := memory.data[x]", ["1:34 a value has no parts, so no data"]),
    (HEAD + "do r := L1", ["1:27 what r becomes must be a value, not all of L1"]),
    (HEAD + "do r := pool", ["1:27 pool must be a value, not a pool"]),
    (HEAD + "when rmw do r := memory[x]", ["1:24 rmw must be a bit, not a lock"]),
    (
        HEAD + "when ready L1.VALID[x] do r := memory[x]",
        ["1:30 L1.VALID[x] must be a lock, not a bit"],
    ),
    (
        HEAD + "when clen(L1, x) do r := memory[x]",
        ["1:24 clen must be a definition of conditions (did you mean clean?)"],
    ),
    (
        HEAD + "when store(L1, x, r) do r := memory[x]",
        ["1:24 store must stand for conditions here, not for effects"],
    ),
    (
        HEAD + "when clean(L1) do r := memory[x]",
        ["1:24 clean(C, y) must be given 2 arguments, not 1"],
    ),
    (
        HEAD + "do clean(L1, x); r := memory[x]",
        ["1:22 clean must stand for effects here, not for conditions"],
    ),
    (
        "define two(y) when L1.VALID[y], ready rmw\ninstruction I r x when two(x) or L1.VALID[x] do r := memory[x]",
        ["2:24 two must stand for a bit beside `or`"],
    ),
    (
        "define a(y) when b(y)\ndefine b(y) when a(y)",
        [
            "1:18 b must not be defined by itself: b → a → b",
            "2:18 a must not be defined by itself: a → b → a",
        ],
    ),
    ("define a(y) when L1.VALID[x]", ["1:26 x must be a location that is named here, and none is"]),
    ("define a(y, y) when L1.VALID[y]", ["1:13 y must be the name of one variable, not of two"]),
    (
        "define a(r) when L1.VALID[r]",
        ["1:10 r must not be the name of a variable: it is the register of an instruction"],
    ),
    (
        "define a(L1) when L1.VALID[x]",
        ["1:10 L1 must not be the name of a variable: it is a part of the state"],
    ),
    (
        "step S of device, location x do store(L1, x, memory[x])",
        [
            "1:39 L1 must be that of one workgroup, and a device has several (say `each workgroup w in device: … w.L1 …`)"
        ],
    ),
    (
        "step S of cluster do take rmw",
        ["1:11 cluster must be a kind of place: thread, workgroup, device or system"],
    ),
    (
        "step S of device do free rmw",
        [
            "1:26 rmw must be that of one workgroup, and a device has several (say `each workgroup w in device: … w.rmw …`)"
        ],
    ),
    (
        "complete when not L1.DIRTY[x]",
        [
            "1:19 L1 must be that of one workgroup, and a system has several (say `each workgroup w: … w.L1 …`)"
        ],
    ),
    (
        "step S of device, workgroup w in workgroup do free w.rmw",
        ["1:34 workgroup must be a place that the own device is or lies in"],
    ),
    (
        "step S of device, other workgroup w do free w.rmw",
        [
            "1:19 another workgroup must be one besides the own workgroup, and a device has no own one"
        ],
    ),
    (
        "step S of device, workgroup w outside workgroup do free w.rmw",
        ["1:39 workgroup must be a place that the own device is or lies in"],
    ),
    (
        "step S of thread, device d outside workgroup, location y do free d.lock[y]",
        ["1:36 what is outside the own workgroup must be no larger than it, not a device"],
    ),
    (
        "instruction I s of DV do each workgroup w in DV: take w.rmw; each device d in s, location y: take d.lock[y]",
        [
            "1:46 DV must be a kind of place: thread, workgroup, device or system (say device, which is how far DV reaches)"
        ],
    ),
    (
        "instruction I x do each workgroup w in s: take w.rmw",
        ["1:40 s must be an operand of I (`instruction I x s` has it)"],
    ),
    (
        "step S of thread, workgroup w in s do free w.rmw",
        ["1:34 s is an operand of an instruction, and S is none"],
    ),
    ("step S of device, thread t do free t.pool", ["1:36 t.pool must be a lock, not a pool"]),
    (
        "step S of device, location t do dequeue L2.fifo\nstep T of device, location x do enqueue x in L2.fifo; each location x: free lock[x]",
        ["2:69 x must be the name of one variable, not of two"],
    ),
    (
        "step S of device, local location y do free lock[y]",
        ["1:19 local must be a kind of memory: global or shared (did you mean global?)"],
    ),
    (HEAD + "do nothing", ["1:15 I must deliver r or write it, as r is its operand"]),
    (
        "instruction I x do r := memory[x]",
        ["1:20 r must be an operand of I (`instruction I r x` has it)"],
    ),
    (
        "instruction I r do copy[x] := r",
        ["1:24 x must be a location that is named here, and none is"],
    ),
    ("instruction I x do take rmw", ["1:15 I must speak of x, as x is its operand"]),
    ("instruction I s of DV do take rmw", ["1:15 I must speak of s, as s is its operand"]),
    (
        "instruction I s do take rmw",
        ["1:13 I must say which reaches s may be (`I s of WG, DV, SY`)"],
    ),
    (
        "instruction I of DV do take rmw",
        ["1:18 reaches must be those of the operand s, and I has none"],
    ),
    (
        "instruction I s of DW do each workgroup w in s: take w.rmw",
        ["1:20 DW must be a reach: WG, DV or SY"],
    ),
    (
        "instruction I r q r x do r := memory[x]",
        [
            "1:17 q must be an operand: r (a register), x (its location) or s (a reach)",
            "1:19 r must be an operand once, not twice",
        ],
    ),
    (
        "instruction I",
        ["1:13 I must wait for something or do something (`do nothing` says that it does not)"],
    ),
    (
        HEAD + "do memory[x] := r + n",
        ["1:13 I must read r, as it writes r + n (such as `r := memory[x]`)"],
    ),
    (HEAD + "do r := memory[x]; memory[x] := r + r", ["1:51 a sum must be r + n, not r + r"]),
    (
        HEAD + "do r := memory[x]; memory[x] := g(r)",
        ["1:51 what is written must be r, r + n, f(r) or a value, not g(r)"],
    ),
    (
        HEAD + "when oldest queue[x] is x do r := memory[x]",
        [
            "1:13 I must not wait for what is oldest: nothing of it is in a fifo yet (a `later` step may wait for that)"
        ],
    ),
    (
        HEAD + "do r := memory[x] later A do take rmw later A do take rmw",
        ["1:63 A must be one later step of I, not two"],
    ),
    (
        "define d() do take rmw later A do r := L1.dat[x]\n"
        + HEAD
        + "when x is global do if L1.VALID[x] { d() }; r := memory[x] later B do d()\n"
        + "step S of thread do d()",
        [
            "1:43 dat must be a cell of L1: data, DIRTY, VALID or fifo (did you mean data?)",
            "2:56 d must stand in the `do` of an instruction, in no block or step (it has later steps, which are those of an instruction)",
            "2:89 d must stand in the `do` of an instruction, in no block or step (it has later steps, which are those of an instruction)",
            "3:21 d must stand in the `do` of an instruction, in no block or step (it has later steps, which are those of an instruction)",
        ],
    ),
    (
        "define d() do take rmw later A do free rmw\n" + HEAD + "do d(); r := memory[x]; d()",
        ["1:30 A must be one later step of I, not two"],
    ),
    (
        HEAD
        + "do memory[x] := true; r := false; L1.VALID[x] := r; L1.VALID[x] := L1.DIRTY[x]; memory[x] := L1.VALID[x]; lock[x] := true; r := L1",
        [
            "1:35 a value must become a value, not true or false",
            "1:46 what r becomes must be a value, not true or false",
            "1:68 a bit must become true or false, not the value of the instruction",
            "1:86 a bit must become true or false, not a bit (`if` tells the two cases apart)",
            "1:112 L1.VALID[x] must be a value, not a bit",
            "1:125 lock[x] must be a bit or a value, not a lock",
            "1:147 what r becomes must be a value, not all of L1",
        ],
    ),
    (
        "step S of thread do take L1.VALID; enqueue self in pool; add self to pool; dequeue pool; enqueue marker in rmw",
        [
            "1:26 L1.VALID must be a lock, not a bit",
            "1:44 self is an instruction, and S is none",
            "1:52 pool must be a fifo, not a pool",
            "1:58 self is an instruction, and S is none",
            "1:84 pool must be a fifo, not a pool",
            "1:108 rmw must be a fifo, not a lock",
        ],
    ),
    (
        "step S of device do each location y: take lock[y]; enqueue marker in L2.fifo; dequeue L2.fifo",
        [
            "1:38 the holder of a lock must be that of a thread, and S has none of its own",
            "1:60 a marker must be that of a thread, and S has none of its own",
        ],
    ),
    (
        "step S of device when no own J in pool do dequeue L2.fifo",
        [
            "1:23 an own instruction must be that of a thread, and S has none of its own",
            "1:30 J must be an instruction of the machine",
            "1:35 pool must be that of one thread, and a device has several (say `each thread t in device: … t.pool …`)",
        ],
    ),
    (
        "step S of device, thread t, location x when oldest L2.fifo is marker of x, oldest L2.fifo is t do dequeue L2.fifo",
        [
            "1:73 x must be a thread that is named here: t",
            "1:94 t must be a location, not a thread",
        ],
    ),
    (
        HEAD + "when no J in pool, x is local, y is shared do r := memory[x]",
        [
            "1:27 J must be an instruction of the machine",
            "1:43 local must be a kind of memory: global or shared (did you mean global?)",
            "1:50 y must be a location that is named here: x",
        ],
    ),
    ("step S of device do nothing", ["1:6 S must do something, as a step of the environment"]),
    (
        "state { memory[x] : value of system }",
        ["1:9 memory must be declared once in a file, not twice"],
    ),
    (
        "state { a : valu of thread b : lock c : lock of core d : lock of thread = true e[x] : cache of thread f : cache of thread = true }",
        [
            "1:13 valu must be a sort: value, bit, lock, fifo, pool or cache (did you mean value?)",
            "1:28 b must say what there is one of it for: `of` a place (such as `of thread`)",
            "1:49 core must be a kind of place: thread, workgroup, device or system",
            "1:54 d must not say what it is at first, as it is a lock, no bit",
            "1:80 e must have no locations of its own: its cells have, in the type cache",
            "1:103 f must have no start of its own: its cells have, in the type cache",
        ],
    ),
    (
        "type lock { a : bit }\nstate { b : cash of device }",
        [
            "-9:3 lock must have no locations of its own: its cells have, in the type lock",
            "1:6 lock is a sort of its own: a type must have another name",
            "2:13 cash must be a sort: value, bit, lock, fifo, pool, cache or lock (did you mean cache?)",
        ],
    ),
    (
        "type t { a : bit of device  b : cache  b : bit }\nstate { p : t of thread }",
        [
            "1:21 a must be of no place: each part of the type says of which it is",
            "1:33 cache must be a sort: value, bit, lock, fifo or pool",
            "1:40 b must be one cell, not two",
        ],
    ),
    (
        "switch A instruction B when A or not A do nothing",
        ["1:29 A is a switch, and must stand alone, not beside `or`"],
    ),
    ("switch A = B", ["1:12 a switch must have true or false here, not 'B'"]),
    (
        "final rmw",
        [
            "1:7 rmw must be that of one workgroup, and a system has several (say `each workgroup w: … w.rmw …`)"
        ],
    ),
    (
        "final memoy",
        [
            "1:7 memoy must be a variable or a part of the state (memory, lock, L2, rmw, L1, queue, pool, copy) (did you mean memory?)"
        ],
    ),
    (
        "final L1.data",
        [
            "1:7 L1 must be that of one workgroup, and a system has several (say `each workgroup w: … w.L1 …`)"
        ],
    ),
    ("final memory[x]", ["1:13 x must be a location that is named here, and none is"]),
    (
        "state { q : fifo of device }\nstep S of device, location x do enqueue x in q",
        [
            "1:9 what enters q must leave it some time, and nothing does: it only grows (`dequeue q` is the effect of some step)"
        ],
    ),
    (
        "instruction J r x do r := memory[x]\nstep J of device do take lock",
        [
            "2:6 J must be declared once in a file, not twice",
            "2:21 the holder of a lock must be that of a thread, and J has none of its own",
            "2:26 lock must have a location: there is one for each (such as lock[x])",
        ],
    ),
    ("final memory\nfinal memory", ["2:1 `final` must be declared once in a file, not twice"]),
    ("define clean(C) when C.a", ["1:8 clean must be declared once in a file, not twice"]),
    (
        "include rps",
        [f"1:1 rps must be a machine that ships: {alternatives(shipped())} (did you mean rsp?)"],
    ),
    ('include "no.machine"', ["1:1 no.machine: no such file (check the path)"]),
    ("without LD", ["1:9 LD must be an included instruction, step or part of the state"]),
]
"""Texts behind the base, and what is said of them: line and column, words, hint."""

SYNTAX = [
    (
        HEAD + "when L1.VALID[x] do r = memory[x]",
        ["1:41 an instruction must have `:=` here, not '=' (an effect writes with `:=`)"],
    ),
    (
        "instruction I r x\n  wen L1.VALID[x]\n  do r := memory[x]",
        [
            "2:3 an instruction must go on with `of`, `when`, `do` or `later` here, not wen (did you mean when?)"
        ],
    ),
    (
        HEAD + "when !L1.VALID[x] do r := memory[x]",
        [
            "1:24 an instruction must have a condition here, not '!' (`not` says that a bit is false)"
        ],
    ),
    (
        HEAD + "when L1.VALID[x] and L2.VALID[x] do r := memory[x]",
        [
            "1:36 an instruction must have `,`, `do`, `later`, `or` or another item here, not 'and' (a comma stands between conditions)"
        ],
    ),
    (
        HEAD + "when L1.VALID[x] && L2.VALID[x] do r := memory[x]",
        [
            "1:36 an instruction must have `,`, `do`, `later`, `or` or another item here, not '&' (a comma stands between conditions)"
        ],
    ),
    (
        HEAD + "when L1.VALID[x] | L2.VALID[x] do r := memory[x]",
        [
            "1:36 an instruction must have `,`, `do`, `later`, `or` or another item here, not '|' (`or` stands between bits)"
        ],
    ),
    (
        HEAD + "do r := memory[x] memory[x] := r",
        [
            "1:37 an instruction must have `;`, `later` or another item here, not 'memory' (`;` stands between effects)"
        ],
    ),
    (
        HEAD + "do r := memory[x] - 1",
        [
            "1:37 an instruction must have `;`, `later` or another item here, not '-' (what is written is `r + n` or `f(r)`, for the f of the source)"
        ],
    ),
    (HEAD + "do", ["1:21 an instruction must have an effect here, not its end"]),
    (
        HEAD + "do if L1.VALID[x] { r := memory[x]",
        ["1:53 an instruction must have `}` here, not its end"],
    ),
    (
        HEAD + "do if L1.VALID[x] { take rmw } else { free rmw }",
        [
            "1:50 an instruction must have `;`, `later` or another item here, not 'else' (say `if not …` besides)"
        ],
    ),
    (
        "instruction take r x do r := memory[x]",
        [
            "1:13 an instruction must have a name or a text in quotes here, not 'take' (take is a word of the language: no name can be that)"
        ],
    ),
    (
        "instuction I r x do r := memory[x]",
        [
            "1:1 a definition must have `;`, `later` or another item here, not 'instuction' (did you mean instruction?)"
        ],
    ),
    (
        "state { a : lock of thread",
        ["1:27 the state must have `=`, `}` or a name here, not its end"],
    ),
    ("state { a lock }", ["1:11 the state must have `:` here, not 'lock'"]),
    ("define a when L1.VALID[x]", ["1:10 a definition must have `(` here, not 'when'"]),
    ("define a(x)", ["1:12 a definition must have `do` or `when` here, not its end"]),
    ("step S do take rmw", ["1:8 a step must have `of` here, not 'do'"]),
    ("step S of thread", ["1:17 a step must have `,`, `do` or `when` here, not its end"]),
    ("final", ["1:6 the final values must have a name here, not its end"]),
    ("include", ["1:8 an include must have a name or a text in quotes here, not its end"]),
    ("machine", ["1:8 the name of a machine must have a name here, not its end"]),
    ("places a b", ["1:10 the places must have `,`, `<`, `per` or another item here, not 'b'"]),
    ("reaches A", ["1:10 the reaches must have `=` here, not its end"]),
    ("type t", ["1:7 a type must have `{` here, not its end"]),
    (
        "complete not L1.VALID[x]",
        ["1:10 what completes an execution must have `when` here, not 'not'"],
    ),
    ("without", ["1:8 what is left out must have a name or a text in quotes here, not its end"]),
    ("spaces", ["1:7 the spaces must have a name here, not its end"]),
    ("always", ["1:7 what instructions always wait for must have `when` here, not its end"]),
    (
        "}",
        ["1:1 a definition must have `later` or another item here, not '}'"],
    ),
    ("§", ["1:1 a definition must have `;`, `later` or another item here, not '§'"]),
    ("step S of device do take lock; extra", ["1:37 a step must have `:=` here, not its end"]),
    (
        "instruction A r x do r := memory(x]\ninstruction B r x when ready do r := memory[x]\ninstruction C r x do r := memory[y]\nstep D of device when no A, B in pool do free rmw",
        [
            "1:35 an instruction must have `)`, `+` or `,` here, not ']'",
            "2:30 an instruction must have a name here, not 'do' (do is a word of the language: no name can be that)",
            "3:33 y must be a location that is named here: x",
            "4:34 pool must be that of one thread, and a device has several (say `each thread t in device: … t.pool …`)",
            "4:47 rmw must be that of one workgroup, and a device has several (say `each workgroup w in device: … w.rmw …`)",
        ],
    ),
    ("step S of thread do add marker to pool", ["1:25 a step must have `self` here, not 'marker'"]),
    (
        "step S of thread, each location x do take rmw",
        [
            "1:19 a step must have `location`, `other` or a name here, not 'each' (each is a word of the language: no name can be that)"
        ],
    ),
    (
        "type t { a : bit; b : bit }",
        ["1:17 a type must have `=`, `of`, `}` or a name here, not ';'"],
    ),
    (
        HEAD + "when no marker of pool do r := memory[x]",
        ["1:42 an instruction must have `in` here, not 'do'"],
    ),
    (
        "instruction I r, x do r := memory[x]",
        [
            "1:16 an instruction must have `do`, `later`, `of`, `when`, a name or another item here, not ','"
        ],
    ),
]
"""What does not follow the grammar."""

WHOLE = [
    (
        "",
        [
            '1:1 a machine must have a name (such as `machine mine "the paper\'s, with another ST"`)',
            "1:1 a machine must have places, innermost first (such as `places thread < workgroup < device < system`)",
        ],
    ),
    (
        "machine m",
        [
            "1:1 a machine must have places, innermost first (such as `places thread < workgroup < device < system`)"
        ],
    ),
    (
        "places thread < system",
        ['1:1 a machine must have a name (such as `machine mine "the paper\'s, with another ST"`)'],
    ),
    (
        "machine m places workgroup < thread < system",
        [
            "1:11 places must begin with thread and end with system, the innermost first (such as `places thread < workgroup < device < system`)"
        ],
    ),
    (
        "machine m places thread < workgrup < system",
        [
            "1:27 workgrup must say for what there is one: programs say thread, workgroup, device, system (did you mean workgroup?)"
        ],
    ),
    (
        "machine m places thread < cu < system",
        [
            "1:27 cu must say for what there is one: programs say thread, workgroup, device, system (such as `cu per workgroup`; `any cu` is one of which programs do not say who is in it)"
        ],
    ),
    (
        "machine m places any thread < any cu per thread < system, thread < any cu < system",
        [
            "1:22 which threads there are is said by the program, not by `any`",
            "1:31 cu must be one for each thread, or open to any, not both",
            "1:68 what cu is must be said once, where it stands first",
        ],
    ),
    (
        "machine m places thread < any a < any b < system, b < a",
        [
            "1:11 places must begin with thread and end with system, the innermost first (such as `places thread < workgroup < device < system`)"
        ],
    ),
    (
        "machine m places thread < workgroup < system, thread < any cu",
        [
            "1:11 places must begin with thread and end with system, the innermost first (such as `places thread < workgroup < device < system`)"
        ],
    ),
    (
        "machine m places thread < cu per core < system < system",
        [
            "1:34 core must be one of the places that programs say: thread or system",
            "1:50 system must be one place, not two",
        ],
    ),
    (
        "machine m places thread < device per workgroup < system",
        [
            "1:38 workgroup must be one of the places that programs say: thread, device or system (did you mean workgroup?)"
        ],
    ),
    (
        "machine m places thread < system reaches A = device, A = thread, A = thread spaces g, g",
        [
            "1:46 device must be a kind of place: thread or system",
            "1:54 A must be one reach, not two",
            "1:66 A must be one reach, not two",
            "1:87 g must be one kind of memory, not two",
        ],
    ),
    (
        "machine m places thread < cu per workgroup < system",
        [
            "1:34 workgroup must be one of the places that programs say: thread or system (did you mean workgroup?)"
        ],
    ),
    (
        "garbage machine m",
        ["1:1 a machine must begin with a word such as `step` or `define`, not 'garbage'"],
    ),
]
"""Texts that stand alone."""


@pytest.mark.parametrize(("text", "said"), NAMES + SYNTAX)
def test_what_is_said(text: str, said: list[str]) -> None:
    assert told(text) == said


@pytest.mark.parametrize(("text", "said"), WHOLE)
def test_what_is_said_of_a_text_alone(text: str, said: list[str]) -> None:
    assert told(text, "") == said


def test_a_mistake_is_shown_in_its_line() -> None:
    with pytest.raises(InputError) as raised:
        read_architecture(Source(NAME, "machine m\nplaces thread < sytem"))
    assert str(raised.value) == (
        "m.machine:2:17: sytem must say for what there is one: programs say thread, workgroup, "
        "device, system\n"
        "    places thread < sytem\n"
        "                    ^^^^^\n"
        "  hint: did you mean system?"
    )


def test_a_mistake_in_a_definition_says_where_it_is_used() -> None:
    (found,) = problems("step S of workgroup, location x do\n  store(rmw, x, memory[x])")[:1]
    assert found.message == "a lock has no parts, so no data"
    ((span, words),) = found.related
    assert words == "it is used here"
    assert span.text == "store(rmw, x, memory[x])"


def test_what_stands_twice_says_where_it_stood() -> None:
    (found,) = problems("final memory\nfinal memory")
    ((span, words),) = found.related
    assert (words, span.line) == ("the first one is here", (found.span and found.span.line - 1))


def test_a_definition_that_is_used_twice_is_told_of_once() -> None:
    found = told("define d(C) do C.nope := true\nstep S of workgroup do d(L1); d(L1); d(L2)")
    assert [each.partition(" (")[0] for each in found] == [
        "1:18 nope must be a cell of L1: data, DIRTY, VALID or fifo",
        "1:18 nope must be a cell of L2: data, DIRTY, VALID or fifo",
    ]


def test_after_a_syntax_error_the_other_items_are_judged() -> None:
    """But not where it hides what they depend on."""
    wrong = "instruction I r x when ready do r := memory[x]\n"
    assert len(told(wrong + "step S of device when no I in pool, no J in pool do free rmw")) == 5
    assert len(told("type t { a }\n" + wrong + "step S of device do free rmw")) == 2


def test_only_so_many_are_told() -> None:
    many = "; ".join(f"free l{number}" for number in range(MAX_PROBLEMS + 7))
    found = told(f"step S of workgroup do {many}")
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].endswith(" 7 more problems from here on (mend the ones above first)")


def test_the_base_is_right() -> None:
    assert read("").name == "m"
