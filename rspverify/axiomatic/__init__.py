"""Axiomatic memory models: the .cat language, candidate executions, and questions about them."""

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.enumeration import consistent_execution
from rspverify.axiomatic.generated_execution import GeneratedExecutions
from rspverify.axiomatic.library import shipped_models
from rspverify.axiomatic.model import Axiom, Choice, Let, LetRec, MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.understanding import require_understood, unheeded
from rspverify.axiomatic.witness import Witness

__all__ = [
    "Axiom",
    "Choice",
    "GeneratedExecutions",
    "Let",
    "LetRec",
    "MemoryModel",
    "Questions",
    "Witness",
    "consistent_execution",
    "load_model",
    "read_model",
    "require_understood",
    "shipped_models",
    "unheeded",
]
