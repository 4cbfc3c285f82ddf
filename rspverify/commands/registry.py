"""All commands, in the order in which --help lists them."""

from __future__ import annotations

from rspverify.commands.cache import cache
from rspverify.commands.check import check
from rspverify.commands.compare import compare
from rspverify.commands.draw import draw
from rspverify.commands.explain import explain
from rspverify.commands.extract import extract
from rspverify.commands.generate import generate
from rspverify.commands.hunt import hunt
from rspverify.commands.init import init
from rspverify.commands.list import list_
from rspverify.commands.mutate import mutate
from rspverify.commands.outcomes import outcomes
from rspverify.commands.progress import progress
from rspverify.commands.repair import repair
from rspverify.commands.report import report
from rspverify.commands.selftest import selftest
from rspverify.commands.serve import serve
from rspverify.commands.show import show

COMMANDS = (
    check,
    report,
    explain,
    outcomes,
    progress,
    draw,
    mutate,
    hunt,
    compare,
    repair,
    selftest,
    show,
    serve,
    cache,
    extract,
    generate,
    init,
    list_,
)
