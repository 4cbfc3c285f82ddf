"""The machine of Fig. 3 with its rules from Tab. 1 and Tab. 2, and the engines that run it."""

from rspverify.machine.awaits import iterations_matter
from rspverify.machine.deadlock import Deadlocks
from rspverify.machine.deadlock_events import DeadlockEvents
from rspverify.machine.deadlock_search import (
    Deadlock,
    DeadlockSearch,
    find_deadlock,
    of_all_states,
    replay_deadlock,
    with_evictions,
)
from rspverify.machine.event import Event
from rspverify.machine.events import Events, ShapeUnknown
from rspverify.machine.explicit import ExplicitMachine, Exploration
from rspverify.machine.firings import enough_steps
from rspverify.machine.hang_search import ShownHang, find_hang, replay_hang
from rspverify.machine.machine import Machine, effect_of, unbounded, unordered
from rspverify.machine.monotony import freeing
from rspverify.machine.observation import Observation, ProgramChoice
from rspverify.machine.replay import Replayer, ReplayError
from rspverify.machine.rules import InstructionRule, Rule
from rspverify.machine.unroll import Unrolling
from rspverify.machine.witness import GeneratedWitness
from rspverify.machine.wording import waiting

__all__ = [
    "Deadlock",
    "DeadlockEvents",
    "DeadlockSearch",
    "Deadlocks",
    "Event",
    "Events",
    "ExplicitMachine",
    "Exploration",
    "GeneratedWitness",
    "InstructionRule",
    "Machine",
    "Observation",
    "ProgramChoice",
    "ReplayError",
    "Replayer",
    "Rule",
    "ShapeUnknown",
    "ShownHang",
    "Unrolling",
    "effect_of",
    "enough_steps",
    "find_deadlock",
    "find_hang",
    "freeing",
    "iterations_matter",
    "of_all_states",
    "replay_deadlock",
    "replay_hang",
    "unbounded",
    "unordered",
    "waiting",
    "with_evictions",
]
