"""Axiomatic memory models: the .cat language, candidate executions, and questions about them."""

from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.coverage import ignored_features, require_covered
from rspverify.axiomatic.enumeration import consistent_execution
from rspverify.axiomatic.generated_executions import GeneratedExecutions
from rspverify.axiomatic.library import shipped_models
from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, MemoryModel
from rspverify.axiomatic.question import Questions

__all__ = [
    "Axiom",
    "GeneratedExecutions",
    "Let",
    "LetRec",
    "Linearisation",
    "MemoryModel",
    "Questions",
    "awaited",
    "consistent_execution",
    "ignored_features",
    "load_model",
    "read_model",
    "require_covered",
    "shipped_models",
]
