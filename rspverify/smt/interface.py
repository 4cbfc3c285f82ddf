"""Z3's C interface: the functions that we call, by ctypes.

The package z3 has them too, beside classes for all of Z3, and takes 35 ms to import; its library
takes 4 ms to load. Numbers stand for what Z3 owns: contexts, terms, solvers, models.
"""

from __future__ import annotations

import ctypes
from _thread import get_ident
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rspverify.smt import work

_NAMES = ("libz3.so", "libz3.dylib", "libz3.dll")
_OBJECT, _NUMBER, _TEXT = ctypes.c_void_p, ctypes.c_uint, ctypes.c_char_p
_OBJECTS, _NUMBERS = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int)
_OF_TRIM, _OF_MMAP = -1, -3  # from malloc.h

YES, NO = 1, -1
"""What `Context.check` answers; 0 where Z3 cannot tell."""


class Z3Error(Exception):
    """Z3 could not do what it was asked for."""


def _loaded() -> ctypes.CDLL:
    """The library in the package z3, or where that finds it."""
    package = find_spec("z3")
    for folder in (package and package.submodule_search_locations) or ():
        for path in (Path(folder) / "lib" / name for name in _NAMES):
            if path.is_file():
                return ctypes.CDLL(str(path))
    from z3.z3core import _lib

    found: ctypes.CDLL = _lib
    return found


_library = _loaded()

if hasattr(_library, "mallopt"):  # glibc would give back the 16 MB of each context, in 8 ms.
    for _threshold in (_OF_TRIM, _OF_MMAP):
        _library.mallopt(_threshold, 64 << 20)


def _function(name: str, result: Any, *arguments: Any) -> Any:
    """A function whose first argument is a context, or what a context is made of."""
    found = _library[f"Z3_{name}"]
    found.restype, found.argtypes = result, [_OBJECT, *arguments]
    return found


_error_code = _function("get_error_code", _NUMBER)
_error_message = _function("get_error_msg", _TEXT, _NUMBER)


def _checked(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function after whose call Z3 is asked whether it failed."""
    function = _function(name, result, *arguments)

    def call(context: int, *given: Any) -> Any:
        returned = function(context, *given)
        if code := _error_code(context):
            raise Z3Error(_error_message(context, code).decode(errors="replace"))
        return returned

    return call


# Asking takes longer than making a term: where none is made, its number is None.
mk_int_symbol = _function("mk_int_symbol", _OBJECT, ctypes.c_int)
mk_const = _function("mk_const", _OBJECT, _OBJECT, _OBJECT)
mk_true = _function("mk_true", _OBJECT)
mk_false = _function("mk_false", _OBJECT)
mk_not = _function("mk_not", _OBJECT, _OBJECT)
mk_and = _function("mk_and", _OBJECT, _NUMBER, _OBJECTS)
mk_or = _function("mk_or", _OBJECT, _NUMBER, _OBJECTS)
mk_implies = _function("mk_implies", _OBJECT, _OBJECT, _OBJECT)
mk_pble = _function("mk_pble", _OBJECT, _NUMBER, _OBJECTS, _NUMBERS, ctypes.c_int)
mk_bool_sort = _function("mk_bool_sort", _OBJECT)
inc_ref = _function("inc_ref", None, _OBJECT)
dec_ref = _function("dec_ref", None, _OBJECT)

_library.Z3_mk_config.restype = _OBJECT
_del_config = _function("del_config", None)
_mk_context = _function("mk_context_rc", _OBJECT)
_del_context = _function("del_context", None)
_set_error_handler = _function("set_error_handler", None, _OBJECT)
_mk_symbol = _checked("mk_string_symbol", _OBJECT, _TEXT)

_mk_solver = _checked("mk_solver_for_logic", _OBJECT, _OBJECT)
_mk_simple_solver = _checked("mk_simple_solver", _OBJECT)
_keep_solver = _function("solver_inc_ref", None, _OBJECT)
_drop_solver = _function("solver_dec_ref", None, _OBJECT)
_assert = _checked("solver_assert", None, _OBJECT, _OBJECT)
_read = _checked("solver_from_string", None, _OBJECT, _TEXT)
_check = _checked("solver_check_assumptions", ctypes.c_int, _OBJECT, _NUMBER, _OBJECTS)
_interrupt = ctypes.PyDLL(_library._name).Z3_solver_interrupt  # keeps others from dropping either
_interrupt.restype, _interrupt.argtypes = None, [_OBJECT, _OBJECT]
_reason = _checked("solver_get_reason_unknown", _TEXT, _OBJECT)
_set_params = _checked("solver_set_params", None, _OBJECT, _OBJECT)

_mk_params = _checked("mk_params", _OBJECT)
_keep_params = _function("params_inc_ref", None, _OBJECT)
_drop_params = _function("params_dec_ref", None, _OBJECT)
_params_bool = _checked("params_set_bool", None, _OBJECT, _OBJECT, ctypes.c_bool)
_params_number = _checked("params_set_uint", None, _OBJECT, _OBJECT, _NUMBER)

_model = _checked("solver_get_model", _OBJECT, _OBJECT)
_keep_model = _function("model_inc_ref", None, _OBJECT)
_drop_model = _function("model_dec_ref", None, _OBJECT)
_declaration = _function("get_app_decl", _OBJECT, _OBJECT)
_interpretation = _function("model_get_const_interp", _OBJECT, _OBJECT, _OBJECT)


def objects(those: Sequence[int]) -> Any:
    """Numbers as an array of C."""
    return (_OBJECT * len(those))(*those)


def numbers(those: Sequence[int]) -> Any:
    """Numbers with a sign as an array of C."""
    return (ctypes.c_int * len(those))(*those)


class Context:
    """All that Z3 makes belongs to a context, which takes 1 ms to set up.

    ref: its number, 0 once it is gone: what goes together goes in any order. What is needed no more
    is given back by the thread that asks: garbage may be found by another one, while Z3 is at work.
    """

    def __init__(self) -> None:
        config = _library.Z3_mk_config()
        self._dropped: list[tuple[Callable[[int, int], None], int]] = []
        self._thread = get_ident()
        self.ref: int = _mk_context(config)
        _del_config(config)
        _set_error_handler(self.ref, None)  # The default one ends the process.

    def __del__(self, delete: Callable[[int], None] = _del_context) -> None:
        ref, self.ref = self.ref, 0
        delete(ref)

    def ask(self) -> None:
        """From here on this thread asks."""
        self._thread = get_ident()
        self._tidy()

    def drop(
        self,
        function: Callable[[int, int], None],
        those: Iterable[int],
        here: Callable[[], int] = get_ident,
    ) -> None:
        """Give back what is needed no more, now or when it is asked again."""
        if self.ref:
            self._dropped += [(function, each) for each in those]
            if here() == self._thread:
                self._tidy()

    def _tidy(self) -> None:
        while self._dropped:
            function, it = self._dropped.pop()
            function(self.ref, it)


class ContextSolver:
    """A solver of a context for a logic of SMT-LIB, or for all of them without their tactics."""

    def __init__(self, context: Context, logic: str | None = None) -> None:
        context.ask()
        self._context, self._ref = context, context.ref
        self._solver = (
            _mk_simple_solver(self._ref)
            if logic is None
            else _mk_solver(self._ref, _mk_symbol(self._ref, logic.encode()))
        )
        _keep_solver(self._ref, self._solver)
        if not work.heeds_ctrl_c():
            self.set("ctrl_c", False)

    def __del__(self, drop: Callable[[int, int], None] = _drop_solver) -> None:
        self._context.drop(drop, [self._solver])

    def set(self, name: str, value: bool | int) -> None:
        """Choose an option."""
        ref, symbol = self._ref, _mk_symbol(self._ref, name.encode())
        params = _mk_params(ref)
        _keep_params(ref, params)
        (_params_bool if isinstance(value, bool) else _params_number)(ref, params, symbol, value)
        _set_params(ref, self._solver, params)
        _drop_params(ref, params)

    def add(self, term: int) -> None:
        """Assert a term."""
        _assert(self._ref, self._solver, term)

    def read(self, text: str) -> None:
        """Assert what a text in SMT-LIB asserts."""
        _read(self._ref, self._solver, text.encode())

    def check(self, assumptions: Sequence[int] = ()) -> int:
        """YES, NO or 0, if the assumptions hold."""
        self._context.ask()
        with work.at_work(self._give_up):
            found: int = _check(self._ref, self._solver, len(assumptions), objects(assumptions))
        return found

    def _give_up(self) -> None:
        _interrupt(self._ref, self._solver)

    @property
    def reason(self) -> str:
        """Why it could not tell."""
        found: bytes = _reason(self._ref, self._solver)
        return found.decode(errors="replace")

    def model(self) -> ContextModel:
        """What satisfies all that is asserted."""
        return ContextModel(self._context, _model(self._ref, self._solver))


class ContextModel:
    """An assignment of a context's variables."""

    def __init__(self, context: Context, model: int) -> None:
        self._context, self._ref, self._model = context, context.ref, model
        _keep_model(self._ref, model)
        self._true = mk_true(self._ref)

    def __del__(self, drop: Callable[[int, int], None] = _drop_model) -> None:
        self._context.drop(drop, [self._model])

    def holds(self, variable: int) -> bool:
        """The value of a variable; one that does not matter is false."""
        ref = self._ref
        value = _interpretation(ref, self._model, _declaration(ref, variable))
        return bool(value == self._true)
