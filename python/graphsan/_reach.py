"""Arrays that a launched function reaches without being given them.

On the host device a function sees the device's copy of an array where that is an argument, or a variable
of its own closure. What it reaches otherwise is the caller's own array, which nothing compares: a sound step
would look wrong. Names are looked up as its code spells them (`cache`, `self.cache`, `caches["key"]`), also
in the functions that it calls by name; what cannot be told from its code is not seen.
"""

from __future__ import annotations

import dis
import functools
import inspect
import itertools
import types
from collections.abc import Iterator, Mapping
from typing import Any, Callable, NamedTuple, Optional

from . import _arrays, _frames

_MOST_ITEMS = 256  # looked at in a container
_MOST_CALLS = 3  # from function to function
# What is the same of an array and of its copy on the device.
_SHARED = {"shape", "dtype", "ndim", "size", "strides", "nbytes", "itemsize"}  # NumPy's and torch's
_SHARED |= {"device", "dim", "numel", "stride", "element_size"}  # torch's
_NONE = object()


class _Step(NamedTuple):
    """One step from a name to a value: an attribute or a constant key."""

    is_key: bool
    name: Any

    def __str__(self) -> str:
        return f"[{self.name!r}]" if self.is_key else f".{self.name}"


class _Path(NamedTuple):
    """A name as a function's code spells it, and the steps from there."""

    kind: str  # "global", "closure" or "local"
    root: str
    steps: tuple[_Step, ...]

    def upto(self, count: int) -> str:
        return self.root + "".join(str(step) for step in self.steps[:count])


class _Reached(NamedTuple):
    how: str
    value: Any


def _root(instruction: dis.Instruction) -> Optional[tuple[str, str]]:
    name, root = instruction.opname, instruction.argval
    if name in ("LOAD_GLOBAL", "LOAD_NAME"):
        return "global", root
    if name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
        return "closure", root
    if name.startswith("LOAD_FAST"):  # some load two
        return "local", root[-1] if isinstance(root, tuple) else root
    return None


def _key(code: list[dis.Instruction], at: int) -> Optional[_Step]:
    """The constant key that is taken at an instruction."""
    if at + 1 >= len(code) or code[at].opname not in ("LOAD_CONST", "LOAD_SMALL_INT"):
        return None
    after = code[at + 1]
    taken = after.opname in ("BINARY_SUBSCR", "STORE_SUBSCR") or after.argrepr == "[]"
    return _Step(True, code[at].argval) if taken else None


@functools.lru_cache(maxsize=1024)
def _paths(code: types.CodeType) -> tuple[_Path, ...]:
    """All of a function's code, functions inside of it included."""
    found: dict[_Path, None] = {}
    instructions = list(dis.get_instructions(code))
    for i, instruction in enumerate(instructions):
        root = _root(instruction)
        if root is None:
            continue
        steps = []
        at = i + 1
        while at < len(instructions):
            key = _key(instructions, at)
            if key is not None:
                steps.append(key)
                at += 2
            elif instructions[at].opname in ("LOAD_ATTR", "LOAD_METHOD"):
                steps.append(_Step(False, instructions[at].argval))
                at += 1
            else:
                break
        found[_Path(*root, tuple(steps))] = None
    inner = (_paths(one) for one in code.co_consts if isinstance(one, types.CodeType))
    for path in itertools.chain.from_iterable(inner):
        # A local of an inner function is none of this one's.
        if path.kind != "local":
            found[path] = None
    return tuple(found)


def _attribute(value: Any, name: str) -> Any:
    """An attribute, without running any code of the caller's; for a property, its function."""
    own = getattr(value, "__dict__", {})
    for table in ("_buffers", "_parameters", "_modules"):  # of a module of torch's
        if isinstance(own.get(table), Mapping) and name in own[table]:
            return own[table][name]
    found = inspect.getattr_static(value, name, _NONE)
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return types.MethodType(found.__func__, value if isinstance(value, type) else type(value))
    if name in own:
        return found
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif isinstance(found, types.MemberDescriptorType) or name in getattr(value, "_fields", ()):
        return getattr(value, name, _NONE)
    if isinstance(found, types.FunctionType):
        return found if isinstance(value, type) else types.MethodType(found, value)
    return _NONE if hasattr(found, "__get__") else found


def _item(value: Any, key: Any) -> Any:
    try:
        if isinstance(value, dict):
            return dict.get(value, key, _NONE)  # a defaultdict would make one
        if isinstance(value, (list, tuple)):
            return value[key]
    except (LookupError, TypeError):
        pass
    return _NONE


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = dict.values(value)
    elif not isinstance(value, (list, tuple, set, frozenset)):
        return
    yield from itertools.islice(value, _MOST_ITEMS)


class _Search:
    """For the first declared array that is reached."""

    def __init__(self, declared: Callable[[_arrays.Array], Optional[str]]):
        self._declared = declared
        self._seen: set[Any] = set()

    def is_declared(self, value: Any) -> bool:
        if not _arrays.is_array(value):
            return False
        try:
            return self._declared(_arrays.describe(value)) is not None
        except TypeError:  # an array that cannot be declared
            return False

    def end(self, how: str, value: Any, calls: int) -> Optional[_Reached]:
        """Where a path ends: an array, what holds arrays, or a function that reaches further."""
        if self.is_declared(value):
            return _Reached(how, value)
        for one in _items(value):
            if self.is_declared(one):
                return _Reached(f"{how}, which holds it", one)
        return self.function(value, calls + 1, how)

    def function(self, value: Any, calls: int, how: str = "") -> Optional[_Reached]:
        """`how`: the way to a function that is not the launched one."""
        if isinstance(value, functools.partial):
            for one in (*value.args, *value.keywords.values()):
                if self.is_declared(one):
                    return _Reached(f"{how}, which holds it", one)
            return self.function(value.func, calls, how)
        bound = _NONE
        if isinstance(value, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)):
            bound = value.__self__
            if self.is_declared(bound):
                return _Reached(f"the array of its method `{value.__name__}`", bound)
            value = getattr(value, "__func__", None)
        if not isinstance(value, types.FunctionType) or calls > _MOST_CALLS:
            return None
        mark = (id(value), id(bound))
        if mark in self._seen or _frames.is_framework(value.__code__.co_filename):
            return None
        self._seen.add(mark)
        for path in _paths(value.__code__):
            # The launch looks after arrays in the closure of the launched function itself.
            served = calls == 0 and bound is _NONE and path.kind == "closure"
            found = self.path(path, value, bound, calls, served)
            if found is not None:
                return found if not how else _Reached(f"{found.how} (in {how})", found.value)
        return None

    def path(
        self, path: _Path, function: types.FunctionType, bound: Any, calls: int, served: bool
    ) -> Optional[_Reached]:
        value = self.start(path, function, bound)
        if served and _arrays.is_array(value):
            return None
        for i, step in enumerate(path.steps):
            if self.is_declared(value):
                shared = not step.is_key and step.name in _SHARED
                return None if shared else _Reached(f"`{path.upto(i)}`", value)
            if not step.is_key and isinstance(value, (dict, list, set)):  # such as .values()
                return self.end(f"`{path.upto(i)}`", value, calls)
            value = _item(value, step.name) if step.is_key else _attribute(value, step.name)
        return self.end(f"`{path.upto(len(path.steps))}`", value, calls)

    @staticmethod
    def start(path: _Path, function: types.FunctionType, bound: Any) -> Any:
        code = function.__code__
        if bound is not _NONE and path.kind != "global" and code.co_varnames[:1] == (path.root,):
            return bound
        if path.kind == "global":
            return function.__globals__.get(path.root, _NONE)
        if path.kind == "closure" and path.root in code.co_freevars:
            try:
                return (function.__closure__ or ())[code.co_freevars.index(path.root)].cell_contents
            except ValueError:  # not assigned yet
                pass
        return _NONE


def _left_to_defaults(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    try:
        signature = inspect.signature(fn)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # the call says what is wrong with it
        return {}
    return {
        name: p.default
        for name, p in signature.parameters.items()
        if name not in given and p.default is not p.empty
    }


def require_given(
    title: str,
    fn: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    declared: Callable[[_arrays.Array], Optional[str]],
) -> None:
    """Raises TypeError where `fn` reaches a declared array that it is not given."""
    search = _Search(declared)
    fn = _arrays.called(fn)
    found: Optional[_Reached] = None
    for name, value in _left_to_defaults(fn, args, kwargs).items():
        found = found or search.end(f"the default of `{name}`", value, 0)
    if found is None:
        call = inspect.getattr_static(type(fn), "__call__", None)
        if isinstance(call, types.FunctionType):  # an object that can be called
            fn = types.MethodType(call, fn)
        found = search.function(fn, 0)
    if found is not None:
        what = declared(_arrays.describe(found.value))
        raise TypeError(
            f"{title} uses {found.how}, and that is declared ({what}): a launched function sees the device's "
            f"copy of what it is given alone. Pass it as an argument: ctx.launch({title}, ...)"
        )
