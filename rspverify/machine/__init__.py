"""The machine of Fig. 3 with its rules from Tab. 1 and Tab. 2, and the engines that run it."""

from rspverify.machine.events import Events
from rspverify.machine.explicit import ExplicitMachine, Search
from rspverify.machine.generated import Generated
from rspverify.machine.happening import Happening
from rspverify.machine.machine import Machine
from rspverify.machine.observation import Observation
from rspverify.machine.progress import Found, Standstill, find_standstill, replayed, with_evictions
from rspverify.machine.rules import Rule
from rspverify.machine.trace import Replayer, ReplayError, label, waiting
from rspverify.machine.unroll import Budget, Unrolling, enough_steps

__all__ = [
    "Budget",
    "Events",
    "ExplicitMachine",
    "Found",
    "Generated",
    "Happening",
    "Machine",
    "Observation",
    "ReplayError",
    "Replayer",
    "Rule",
    "Search",
    "Standstill",
    "Unrolling",
    "enough_steps",
    "find_standstill",
    "label",
    "replayed",
    "waiting",
    "with_evictions",
]
