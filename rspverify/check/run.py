"""Many checks: every test under every scheme, on all cores, results in a stable order."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_all_start_methods, get_context

from rspverify.axiomatic import MemoryModel, load_model
from rspverify.check.bundle import Incident, reported
from rspverify.check.progress import WITHOUT_PROGRESS, progress
from rspverify.check.settings import Settings
from rspverify.check.soundness import check
from rspverify.check.wording import observed
from rspverify.litmus import Program, read_program_file, title_of
from rspverify.report import Internal, Result
from rspverify.scheme import Scheme, read_scheme_file
from rspverify.source import InputError, Problem, Severity, in_one_line
from rspverify.verdict import Progress, ProgressWord, Verdict, Word


@dataclass(frozen=True)
class Job:
    """One test under one scheme; both are files."""

    test: str
    scheme: str
    settings: Settings


def load_scheme(path: str, settings: Settings) -> Scheme:
    """A scheme file, for the machine that the settings name if they name one."""
    scheme = read_scheme_file(path)
    return scheme.on_machine(settings.machine) if settings.machine else scheme


def load_inputs(paths: Sequence[str], settings: Settings) -> list[str]:
    """The names of the schemes. Raises InputError for all that is wrong with them and the model."""
    problems: list[Problem] = []
    names: dict[str, str] = {}
    try:
        load_model(settings.model)
    except InputError as error:
        problems += error.problems
    for path in paths:
        try:
            name = load_scheme(path, settings).name
        except InputError as error:
            problems += error.problems
            continue
        if name in names:
            message = f"{path}: its name must be unique in a run, {name} is also {names[name]}"
            problems.append(Problem(None, message))
        names[name] = path
    if problems:
        raise InputError(problems)
    return list(names)


def run(jobs: Sequence[Job], workers: int) -> Iterator[Result]:
    """The result of each job, in their order, as soon as it and those before it are there."""
    method = "fork" if "fork" in get_all_start_methods() else "spawn"
    pool = ProcessPoolExecutor(
        max(1, min(workers, len(jobs))),
        mp_context=get_context(method),
        initializer=_ignore_interrupts,
    )
    futures = [pool.submit(decide, job) for job in jobs]
    try:
        for job, future in zip(jobs, futures, strict=True):
            yield _result(job, future)
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def _result(job: Job, future: Future[Result]) -> Result:
    try:
        return future.result()
    except BrokenProcessPool:
        reason = "a worker process ended unexpectedly, perhaps for lack of memory; try -j 1"
        return _without_verdict(job, Verdict(Word.UNKNOWN, reason))


def _stop(pool: ProcessPoolExecutor) -> None:
    """End the workers, whatever they are at."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(cancel_futures=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def decide(job: Job) -> Result:
    """The result of one job. A wrong input is a verdict too: the other tests go on."""
    started = time.perf_counter()
    try:
        scheme = _scheme(job.scheme, job.settings)
        model = _model(job.settings.model)
        program = _program(job.test)
    except InputError as error:
        return _without_verdict(job, _refused(error))
    except Exception as error:
        met = reported(error, _incident(job))
        return replace(_without_verdict(job, _unknown(met)), internal=met)
    internal: Internal | None = None
    try:
        verdict = check(program, scheme, model, job.settings)
    except MemoryError:
        verdict = Verdict(Word.UNKNOWN, "out of memory")
    except Exception as error:
        internal = reported(error, _incident(job))
        verdict = _unknown(internal)
    found: Progress | None = None
    if job.settings.progress and verdict.word not in WITHOUT_PROGRESS:
        try:
            found = progress(program, scheme, job.settings)
        except MemoryError:
            found = Progress(ProgressWord.UNKNOWN, "out of memory")
        except Exception as error:
            internal = internal or reported(error, _incident(job))
            found = Progress(ProgressWord.UNKNOWN, str(internal))
    return Result(
        program.title,
        job.test,
        scheme.name,
        job.scheme,
        model.name,
        str(job.settings.engine),
        str(job.settings.reading),
        verdict,
        observed(program, verdict.outcome) if verdict.outcome else None,
        time.perf_counter() - started,
        internal,
        found,
    )


def _incident(job: Job) -> Incident:
    return Incident("explain", (job.test,), (job.scheme,), job.settings)


def _unknown(internal: Internal) -> Verdict:
    """What is said instead of a verdict where a bug of ours was met."""
    return Verdict(Word.UNKNOWN, str(internal))


def _refused(error: InputError) -> Verdict:
    """Errors with their excerpts; what is merely unsupported in one line."""
    if error.severity is Severity.UNSUPPORTED:
        return Verdict(Word.UNSUPPORTED, in_one_line(error.problems))
    wrong = [each for each in error.problems if each.severity is Severity.ERROR]
    return Verdict(Word.ERROR, "\n".join(str(problem) for problem in wrong))


def _without_verdict(job: Job, verdict: Verdict) -> Result:
    try:
        name = _scheme(job.scheme, job.settings).name
    except Exception:
        name = job.scheme
    chosen = job.settings
    model, engine, reading = chosen.model, str(chosen.engine), str(chosen.reading)
    title = title_of(job.test)
    return Result(title, job.test, name, job.scheme, model, engine, reading, verdict, None, 0.0)


@cache
def _scheme(path: str, settings: Settings) -> Scheme:
    return load_scheme(path, settings)


@cache
def _model(name: str) -> MemoryModel:
    return load_model(name)


@cache
def _program(path: str) -> Program:
    return read_program_file(path)


def jobs_for(tests: Sequence[str], schemes: Sequence[str], settings: Settings) -> list[Job]:
    """Every test under every scheme, test by test."""
    return [Job(test, scheme, settings) for test in tests for scheme in schemes]
