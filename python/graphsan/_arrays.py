"""NumPy arrays and torch tensors by what GraphSan needs of them: address, shape, strides, dtype.

torch is never imported here: a tensor of torch's can only be given by a program that has imported it.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple, Optional

import numpy as np

from ._numbers import INT64

# Names of element types, by the framework's own name, as the ABI knows them. All others are compared
# as bytes.
_DTYPES = {
    "uint8": "u8",
    "int32": "i32",
    "int64": "i64",
    "float32": "f32",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
}
ITEM_BYTES = {"u8": 1, "i32": 4, "i64": 8, "f32": 4, "bf16": 2, "fp8_e4m3": 1, "fp8_e5m2": 1}


class Array(NamedTuple):
    """Where an array lies and how. Strides are bytes."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item_bytes: int
    dtype: Optional[str]  # as the ABI names it; None: bytes
    is_float: bool
    is_torch: bool
    is_cuda: bool
    writeable: bool


def is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_tensor(value)


def called(function: Any) -> Any:
    """What holds the parameters of a callable: for a module of torch's, forward()."""
    module = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
    if module is None or not isinstance(function, module):
        return function
    return getattr(function, "_orig_mod", function).forward  # torch.compile() wraps a module in one


def limits(value: Any) -> tuple[int, int]:
    """The least and the greatest whole number that an element holds, of those that the ABI knows."""
    dtype = str(value.dtype).split(".")[-1]
    if dtype == "bool":
        return 0, 1
    if describe(value).is_float or not dtype.startswith(("int", "uint")):
        return -INT64 - 1, INT64
    info = sys.modules["torch"].iinfo(value.dtype) if is_tensor(value) else np.iinfo(value.dtype)
    return int(info.min), min(int(info.max), INT64)


def describe(value: Any) -> Array:
    """Raises TypeError for what is neither a NumPy array nor a dense torch tensor."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError(
                "an array of Python objects has no bytes to compare; give it a number dtype"
            )
        return Array(
            address=value.ctypes.data,
            shape=value.shape,
            strides=value.strides,
            item_bytes=value.itemsize,
            dtype=_DTYPES.get(value.dtype.name),
            # ml_dtypes' bf16 and fp8 are of kind "V".
            is_float=value.dtype.kind in "fcV",
            is_torch=False,
            is_cuda=False,
            writeable=value.flags.writeable,
        )
    if is_tensor(value):
        if value.layout != sys.modules["torch"].strided or value.device.type not in ("cpu", "cuda"):
            raise TypeError(
                f"a tensor of layout {value.layout} on {value.device}; give a strided tensor on a CUDA "
                "device, or on the CPU for the host device"
            )
        item = value.element_size()
        return Array(
            address=value.data_ptr(),
            shape=tuple(value.shape),
            strides=tuple(stride * item for stride in value.stride()),
            item_bytes=item,
            dtype=_DTYPES.get(str(value.dtype).split(".")[-1]),
            is_float=value.is_floating_point(),
            is_torch=True,
            is_cuda=value.device.type == "cuda",
            writeable=True,
        )
    raise TypeError(f"{type(value).__name__} is neither a NumPy array nor a torch tensor")


def require_same_memory(what: str, value: Any, cache: Any) -> None:
    """Raises TypeError for what is no array of the framework and device of a cache's array."""
    if not is_array(value):
        raise TypeError(f"{what} is of type {type(value).__name__}; give an array")
    array, like = describe(value), describe(cache)
    given, needed = _home(value, array), _home(cache, like)
    if given != needed:
        raise TypeError(f"{what} is {given}, and a cache is {needed}; give {needed} for both")


def _home(value: Any, array: Array) -> str:
    return f"a torch tensor on {value.device}" if array.is_torch else "a NumPy array"


def view_at(address: int, like: Any) -> Any:
    """An array of `like`'s shape, strides and dtype over other memory of the CPU."""
    array = describe(like)
    if 0 in array.shape or address == 0:
        return like[:0] if array.shape else like
    first, last = bounds(array)
    low = first - array.address
    memory = (ctypes.c_char * (last - first)).from_address(address + low)
    if not array.is_torch:
        view: Any = np.ndarray(like.shape, like.dtype, memoryview(memory), -low, like.strides)
        view.flags.writeable = array.writeable
        return view
    torch = sys.modules["torch"]
    return torch.frombuffer(memory, dtype=like.dtype).as_strided(like.shape, like.stride())


def bounds(array: Array) -> tuple[int, int]:
    """First and last address of an array's memory, the last exclusive; gaps between strides included."""
    if 0 in array.shape:
        return array.address, array.address
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides)]
    low = array.address + sum(step for step in steps if step < 0)
    return low, array.address + sum(step for step in steps if step > 0) + array.item_bytes


def has_whole_lanes(array: Array) -> bool:
    """Whether each entry of the first dimension is one piece of memory of its own, in ascending order."""
    size = array.item_bytes
    for n, stride in reversed(list(zip(array.shape[1:], array.strides[1:]))):
        if n > 1 and stride != size:
            return False
        size *= n
    return array.shape[0] <= 1 or array.strides[0] >= size


class NumpyMemory:
    """Makes arrays for the host device, of the kind that the step's caches are."""

    def __init__(self, tensors: bool):
        self._tensors = tensors

    def source(self, value: Any) -> Any:
        """A copy of one of the caller's arrays, of the step's framework."""
        if self._tensors:
            return sys.modules["torch"].as_tensor(value).detach().clone().contiguous()
        if is_tensor(value):
            raise TypeError(
                "a torch tensor among NumPy caches; give NumPy arrays, or tensors for both"
            )
        return np.array(value, order="C")

    def empty(self, shape: tuple[int, ...], like: Any) -> Any:
        if self._tensors:
            return sys.modules["torch"].empty(shape, dtype=like.dtype)
        return np.empty(shape, like.dtype)

    def assign(self, to: Any, value: Any) -> None:
        if self._tensors:
            to.copy_(value)
        else:
            np.copyto(to, value)

    def slots(self, values: Any) -> Any:
        return self.source(np.asarray(values, np.int64))

    def clone(self, value: Any) -> Any:
        return value.clone() if self._tensors else value.copy()
