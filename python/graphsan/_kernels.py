"""Python functions as kernels of the host device.

A launch copies its arguments into a struct, as a CUDA launch does: an array by its address, a number by
its value. The function runs when the stream gets to it, which in a captured graph is at each replay,
with views over the addresses and with the numbers as they were. What a function closes over is treated
as its arguments are, as in a CUDA lambda that captures by value; `_reach` refuses what it reaches otherwise.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import struct
import types
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from . import _abi, _arrays, _reach

_NUMBERS = {bool: "?", int: "q", float: "d"}
_SLOT = 8  # every field has 8 bytes' alignment
_Place = Callable[[str, _arrays.Array], int]  # where an array is on the device, by what it is called


class _Parameter(NamedTuple):
    """A field of the struct, or a constant of the kernel (field is None)."""

    name: str
    field: Optional[str]  # "array", a struct format, or None
    example: Any  # an array of the same shape and dtype, a NumPy scalar's dtype, or the constant
    offset: int


def _classify(fn_name: str, name: str, value: Any) -> tuple[Any, Optional[str], Any]:
    """(what tells kernels apart, field, example) of an argument."""
    if _arrays.is_array(value):
        array = _arrays.describe(value)
        if array.is_cuda:
            raise TypeError(
                f"{fn_name}: argument `{name}` is a CUDA tensor; a step whose caches are on the CPU "
                "launches on arrays of the CPU"
            )
        look = (
            "array",
            array.shape,
            array.strides,
            str(value.dtype),
            array.is_torch,
            array.writeable,
        )
        return look, "array", value
    if type(value) in _NUMBERS:
        return (_NUMBERS[type(value)],), _NUMBERS[type(value)], None
    if isinstance(value, np.generic) and value.dtype.kind in "?biufc":
        return (value.dtype.str,), f"{value.dtype.itemsize}s", value.dtype
    if value is None or isinstance(value, (str, bytes)):
        return ("constant", value), None, value
    raise TypeError(
        f"{fn_name}: argument `{name}` is of type {type(value).__name__}; a launch takes arrays, which "
        "go by address, and numbers, which go by value. Let the function close over anything else"
    )


def _is_field(value: Any) -> bool:
    return _arrays.is_array(value) or type(value) in _NUMBERS or isinstance(value, np.generic)


def _names(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """A name for each positional and then each keyword argument."""
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):  # built-in functions and ufuncs may have none
        parameters = []
    names: list[str] = []
    for i in range(len(args)):
        fits = i < len(parameters) and parameters[i].kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        names.append(parameters[i].name if fits else f"argument {i}")
    return names + list(kwargs)


class _Kernel:
    """One function with one set of argument types: what the device sees as a kernel."""

    def __init__(
        self,
        name: str,
        parameters: list[_Parameter],
        positional: int,
        keywords: list[str],
        call: Callable[[list[Any]], None],
        failed: Callable[[str, BaseException], None],
    ):
        self.parameters = parameters
        fields = [p for p in parameters if p.field is not None]
        self.bytes = max(_SLOT, sum(self.field_bytes(p) for p in fields))
        self._call = call
        self._failed = failed
        self._name = name
        self._fields = (_abi.Field * max(1, len(fields)))(
            *[
                _abi.Field(
                    _abi.encoded(p.name),
                    p.offset,
                    _SLOT if p.field == "array" else struct.calcsize(p.field or ""),
                    p.field == "array",
                    p.field == "array" and _arrays.describe(p.example).writeable,
                )
                for p in fields
            ]
        )
        self._run = _abi.KERNEL_RUN(self._entered)
        self.struct = _abi.HostKernel(
            ctypes.sizeof(_abi.HostKernel),
            _abi.encoded(name),
            self._run,
            self.bytes,
            self._fields,
            len(fields),
        )

    @staticmethod
    def field_bytes(parameter: _Parameter) -> int:
        size = _SLOT if parameter.field == "array" else struct.calcsize(parameter.field or "")
        return -(-size // _SLOT) * _SLOT

    def pack(self, values: list[Any], place: _Place) -> ctypes.Array[ctypes.c_char]:
        """The arguments as bytes. Raises TypeError for a number of over 8 bytes, and what `place` raises."""
        data = ctypes.create_string_buffer(self.bytes)
        for p, value in zip(self.parameters, values):
            if p.field == "array":
                address = place(f"{self._name}: argument `{p.name}`", _arrays.describe(value))
                struct.pack_into("=Q", data, p.offset, address)
            elif p.field is not None:
                raw = value.tobytes() if isinstance(value, np.generic) else value
                try:
                    struct.pack_into("=" + p.field, data, p.offset, raw)
                except struct.error as error:
                    raise TypeError(
                        f"{self._name}: argument `{p.name}` = {value}: {error}; a number goes by value in 8 "
                        "bytes"
                    ) from None
        return data

    def _entered(self, address: int) -> None:
        try:
            values = []
            for p in self.parameters:
                if p.field is None:
                    values.append(p.example)
                    continue
                size = _SLOT if p.field == "array" else struct.calcsize(p.field)
                raw = ctypes.string_at(address + p.offset, size)
                if p.field == "array":
                    values.append(_arrays.view_at(struct.unpack("=Q", raw)[0], p.example))
                elif p.example is not None:
                    values.append(np.frombuffer(raw, p.example)[0])
                else:
                    values.append(struct.unpack("=" + p.field, raw)[0])
            self._call(values)
        except BaseException as error:  # nothing may leave a callback from C
            self._failed(self._name, error)


class Kernels:
    """The kernels of one step, kept as long as graphs may hold them."""

    def __init__(
        self,
        failed: Callable[[str, BaseException], None],
        place: _Place,
        declared: Callable[[_arrays.Array], Optional[str]],
    ):
        self._failed = failed
        self._place = place
        self._declared = declared
        self._known: dict[Any, _Kernel] = {}
        self._kept: list[Any] = []

    def prepare(
        self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[_Kernel, ctypes.Array[ctypes.c_char]]:
        """The kernel that launches `fn`, and its arguments as bytes. Raises TypeError for what has neither
        an address nor a value."""
        if not callable(fn):
            raise TypeError(
                f"launch() got {type(fn).__name__}; give a function and then its arguments"
            )
        while isinstance(fn, functools.partial):  # its arguments go as those of the launch do
            fn, args, kwargs = fn.func, (*fn.args, *args), {**fn.keywords, **kwargs}
        title = getattr(fn, "__name__", type(fn).__name__)
        _reach.require_given(title, fn, args, kwargs, self._declared)
        values = [*args, *kwargs.values()]
        names = _names(fn, args, kwargs)
        function = fn if isinstance(fn, types.FunctionType) else None
        captured = self._captured(function) if function is not None else []
        values += [value for _, value in captured]
        names += [name for name, _ in captured]
        looks = [_classify(title, name, value) for name, value in zip(names, values)]
        key = (self._identity(fn, function), tuple(kwargs), tuple(look for look, _, _ in looks))
        kernel = self._known.get(key)
        if kernel is None:
            offset = 0
            parameters = []
            for name, (_, field, example) in zip(names, looks):
                parameter = _Parameter(name, field, example, offset)
                parameters.append(parameter)
                if field is not None:
                    offset += _Kernel.field_bytes(parameter)
            call = self._caller(
                fn, function, len(args), list(kwargs), [name for name, _ in captured]
            )
            kernel = _Kernel(title, parameters, len(args), list(kwargs), call, self._failed)
            self._known[key] = kernel
            self._kept.append(fn)
        return kernel, kernel.pack(values, self._place)

    @staticmethod
    def _captured(fn: types.FunctionType) -> list[tuple[str, Any]]:
        made = []
        for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
            try:
                value = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            if _is_field(value):
                made.append((name, value))
        return made

    @staticmethod
    def _identity(fn: Callable[..., Any], function: Optional[types.FunctionType]) -> Any:
        if function is None:
            method = getattr(fn, "__func__", None)
            return (id(method), id(getattr(fn, "__self__", None))) if method is not None else id(fn)
        rest = []
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:
                value = None
            rest.append(None if _is_field(value) else id(value))
        # Numbers by value: a function that is made anew in each step is one kernel for each of its values.
        by_keyword = tuple(
            (name, type(value), value if type(value) in _NUMBERS else id(value))
            for name, value in (function.__kwdefaults__ or {}).items()
        )
        return (id(function.__code__), id(function.__defaults__), by_keyword, tuple(rest))

    @staticmethod
    def _caller(
        fn: Callable[..., Any],
        function: Optional[types.FunctionType],
        positional: int,
        keywords: list[str],
        captured: list[str],
    ) -> Callable[[list[Any]], None]:
        given = positional + len(keywords)

        def call(values: list[Any]) -> None:
            run = fn
            if function is not None and captured:
                inner = dict(zip(captured, values[given:]))
                cells = tuple(
                    types.CellType(inner[name]) if name in inner else cell
                    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ())
                )
                run = types.FunctionType(
                    function.__code__,
                    function.__globals__,
                    function.__name__,
                    function.__defaults__,
                    cells,
                )
                run.__kwdefaults__ = function.__kwdefaults__
            run(*values[:positional], **dict(zip(keywords, values[positional:given])))

        return call
