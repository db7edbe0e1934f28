"""What a caller declares of a step's memory: its caches and outputs."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _abi, _arrays
from ._batches import Batch
from ._numbers import INT32, INT64, whole

Layout = Union[str, Sequence[str]]

_CACHE_AXES: dict[str, dict[int, tuple[str, ...]]] = {
    "NHD": {
        2: ("slot", "dim"),
        3: ("page", "slot", "dim"),
        4: ("page", "slot", "head", "dim"),
    },
    "HND": {4: ("page", "head", "slot", "dim")},
}
_OUTPUT_AXES: dict[str, dict[int, tuple[str, ...]]] = {
    "NHD": {1: ("lane",), 2: ("lane", "dim"), 3: ("lane", "head", "dim")},
    "HND": {3: ("head", "lane", "dim")},
}

@dataclass(frozen=True)
class Cache:
    """A paged cache: rows of `heads` x `dim` elements, `page_size` of them to a page.

    `tensor` has the shape [pages, page_size, heads, dim] (layout "NHD") or [pages, heads, page_size,
    dim] ("HND"), with any strides but contiguous elements in the last dimension: a view such as
    `kv[:, 0]` of an interleaved K|V cache will do. [pages, page_size, dim] and, with `page_size`,
    [rows, dim] are taken as well. Another order is spelled out: ("head", "page", "slot", "dim").

    `kind`: "key", "value", "index-key" (written at `index_slot_mapping`), "scale" or "other".
    `sinks`: rows where writes do not matter, such as those of a null page: row numbers, or (first,
    last) with `last` left out. `dtype`: "bf16", "fp8_e4m3" or "fp8_e5m2", for frameworks that hold
    them as bytes. A dtype that GraphSan has no name for is compared byte by byte.
    """

    tensor: Any
    kind: str = "key"
    layer: int = 0
    layout: Layout = "NHD"
    page_size: Optional[int] = None
    sinks: Sequence[Union[int, tuple[int, int]]] = ()
    dtype: Optional[str] = None


@dataclass(frozen=True)
class Output:
    """A result of a step with one row a lane: [lanes], [lanes, dim] or [lanes, heads, dim].

    The name that it is declared under is a key of the dict that the step returns ("output" where it
    returns one array), unless `tensor` is given: the buffer that the step writes it into.
    `kind`: "output", compared bit by bit, or "top-k": int32 block ids, compared as sets. "top-k" needs
    `block_size`, the keys of a block. Layout "HND": [heads, lanes, dim].
    """

    tensor: Any = None
    kind: str = "output"
    layer: int = 0
    layout: Layout = "NHD"
    block_size: int = 0
    dtype: Optional[str] = None


def _axes(
    what: str,
    layout: Layout,
    known: Mapping[str, Mapping[int, tuple[str, ...]]],
    dimensions: int,
    words: tuple[str, ...],
) -> tuple[str, ...]:
    if isinstance(layout, str):
        if layout not in known:
            raise ValueError(
                f'{what}: layout "{layout}"; it is "NHD", "HND" or the names of the dimensions in their '
                f"order, of {', '.join(words)}"
            )
        if dimensions not in known[layout]:
            takes = " or ".join(str(n) for n in known[layout])
            raise ValueError(
                f"{what}: layout {layout} takes {takes} dimensions and the array has {dimensions}; "
                f"reshape it, or spell the layout out: a tuple of {', '.join(words)}"
            )
        return known[layout][dimensions]
    axes = tuple(layout)
    if len(axes) != dimensions or len(set(axes)) != len(axes) or not set(axes) <= set(words):
        raise ValueError(
            f"{what}: layout {axes} for an array of {dimensions} dimensions; name each dimension once, "
            f"of {', '.join(words)}"
        )
    return axes


def _element(what: str, array: _arrays.Array, chosen: Optional[str], dim: int) -> tuple[str, int]:
    """The ABI's name of an element type, and how many of them `dim` elements of the array are."""
    name = array.dtype
    if chosen is not None:
        if chosen not in _arrays.ITEM_BYTES:
            raise ValueError(f'{what}: dtype "{chosen}"; it can be {", ".join(_arrays.ITEM_BYTES)}')
        if _arrays.ITEM_BYTES[chosen] != array.item_bytes:
            raise ValueError(
                f"{what}: dtype {chosen} takes {_arrays.ITEM_BYTES[chosen]} bytes and an element of the "
                f"array {array.item_bytes}; view the array as the unsigned integer of that size"
            )
        name = chosen
    return (name, dim) if name is not None else ("u8", dim * array.item_bytes)


def _kind(what: str, kind: str, allowed: Sequence[str]) -> int:
    if kind not in allowed:
        raise ValueError(f'{what}: kind "{kind}"; it can be {", ".join(allowed)}')
    return _abi.KINDS[kind]


def _contiguous_elements(what: str, array: _arrays.Array, axis: Optional[int]) -> None:
    if axis is None or array.shape[axis] == 1 or array.strides[axis] == array.item_bytes:
        return
    raise ValueError(
        f"{what}: elements of the last dimension are {array.strides[axis]} bytes apart, not "
        f"{array.item_bytes}; the elements of one head of a row must lie side by side"
    )


def as_cache(name: str, value: Any) -> Cache:
    """A bare array is a cache of the kind that its name is, else a key cache."""
    if isinstance(value, Cache):
        return value
    if _arrays.is_array(value):
        return Cache(
            value, kind=name if name in ("value", "index-key", "scale", "other") else "key"
        )
    raise TypeError(
        f"cache `{name}` is of type {type(value).__name__}; give a NumPy array, a torch tensor or "
        "graphsan.Cache(array, ...)"
    )


def _sink(what: str, value: Any) -> tuple[int, int]:
    if isinstance(value, Sequence) and len(value) == 2:
        first, last = (whole(f"{what}: a sink", one, -INT64, INT64) for one in value)
        return first, last
    row = whole(f"{what}: a sink", value, -INT64, INT64)
    return row, row + 1


def cache_struct(name: str, cache: Cache) -> _abi.Cache:
    """Raises ValueError where `cache` describes no paged memory. Keeps no reference to the array."""
    what = f"cache `{name}`"
    array = _arrays.describe(cache.tensor)
    axes = _axes(what, cache.layout, _CACHE_AXES, len(array.shape), ("page", "slot", "head", "dim"))
    if "slot" not in axes or axes[-1] != "dim":
        raise ValueError(f"{what}: layout {axes}; it needs a slot, and dim as its last dimension")
    size = dict(zip(axes, array.shape))
    stride = dict(zip(axes, array.strides))
    if 0 in array.shape or any(stride[a] <= 0 and size[a] > 1 for a in axes):
        raise ValueError(
            f"{what}: shape {array.shape}, strides {array.strides}; each row needs memory of its own"
        )
    _contiguous_elements(what, array, axes.index("dim"))
    if not array.writeable:
        raise ValueError(f"{what}: the array is read-only; give the array that the step writes")
    page_size = cache.page_size
    if page_size is not None:
        page_size = whole(f"{what}: page_size", page_size, 1, INT64)
    pages = size.get("page")
    if pages is None:
        if page_size is None or size["slot"] % page_size:
            raise ValueError(
                f"{what}: {size['slot']} rows without pages; give page_size, of which the number of rows "
                "is a multiple"
            )
        pages = size["slot"] // page_size
        page_stride = page_size * stride["slot"]
    else:
        if page_size not in (None, size["slot"]):
            raise ValueError(
                f"{what}: page_size {page_size}, and the array has {size['slot']} slots in a page; leave "
                "page_size out where the array has pages"
            )
        page_size = size["slot"]
        page_stride = stride["page"]
    dtype, dim = _element(what, array, cache.dtype, size["dim"])
    struct = _abi.Cache(
        struct_size=ctypes.sizeof(_abi.Cache),
        name=_abi.encoded(name),
        kind=_kind(what, cache.kind, ("key", "value", "index-key", "scale", "other")),
        layer=whole(f"{what}: layer", cache.layer, 0, INT32),
        dtype=_abi.DTYPES[dtype],
        pages=pages,
        page_size=page_size,
        heads=size.get("head", 1),
        dim=dim,
        page_stride=page_stride,
        slot_stride=stride["slot"],
        head_stride=stride["head"] if size.get("head", 1) > 1 else 0,
        data=array.address,
    )
    rows = pages * page_size
    sinks = [_sink(what, one) for one in cache.sinks]
    for first, last in sinks:
        if not 0 <= first < last <= rows:
            raise ValueError(f"{what}: sink rows {first} to {last - 1}; rows are 0 to {rows - 1}")
    struct.sink_count = len(sinks)
    struct.sinks = (_abi.Rows * len(sinks))(*[_abi.Rows(a, b) for a, b in sinks])
    return struct


def require_rows(
    structs: Sequence[_abi.Cache], caches: Mapping[str, Cache], batches: Sequence[Batch]
) -> None:
    """Raises ValueError where a batch names a row that a cache does not have."""
    for struct, (name, cache) in zip(structs, caches.items()):
        rows = struct.pages * struct.page_size
        for i, batch in enumerate(batches):
            slots = batch.slot_mapping
            if cache.kind == "index-key" and batch.index_slot_mapping is not None:
                slots = batch.index_slot_mapping
            if slots.max() >= rows:
                raise ValueError(
                    f"slot_mapping of step {i} names row {slots.max()}, and cache `{name}` has rows 0 "
                    f"to {rows - 1}; give it more pages, or other slots"
                )


def output_lane_axis(name: str, output: Output, array: Any) -> int:
    axes = _axes(
        f"output `{name}`", output.layout, _OUTPUT_AXES, array.ndim, ("lane", "head", "dim")
    )
    if "lane" not in axes:
        raise ValueError(f"output `{name}`: layout {axes} has no lane")
    return axes.index("lane")


def output_struct(name: str, output: Output, value: Any) -> _abi.Output:
    what = f"output `{name}`"
    array = _arrays.describe(value)
    axes = _axes(what, output.layout, _OUTPUT_AXES, len(array.shape), ("lane", "head", "dim"))
    size = dict(zip(axes, array.shape))
    stride = dict(zip(axes, array.strides))
    _contiguous_elements(what, array, axes.index("dim") if "dim" in axes else None)
    dtype, dim = _element(what, array, output.dtype, size.get("dim", 1))
    if output.kind == "top-k" and dtype != "i32":
        raise ValueError(f"{what}: block ids of dtype {dtype}; give them as int32")
    return _abi.Output(
        struct_size=ctypes.sizeof(_abi.Output),
        name=_abi.encoded(name),
        kind=_kind(what, output.kind, ("output", "top-k")),
        layer=whole(f"{what}: layer", output.layer, 0, INT32),
        dtype=_abi.DTYPES[dtype],
        heads=size.get("head", 1),
        dim=dim,
        lane_stride=stride["lane"],
        head_stride=stride["head"] if size.get("head", 1) > 1 else 0,
        data=array.address,
    )


def require_output_buffers(
    outputs: Mapping[str, Output], caches: Mapping[str, Cache], batches: Sequence[Batch]
) -> None:
    """Raises TypeError or ValueError where the `tensor` of an output cannot hold it in each call."""
    lanes = max(max(batch.tokens, int(batch.bucket or 0)) for batch in batches)
    cache = next(iter(caches.values()))
    for name, output in outputs.items():
        what = f"output `{name}`"
        if not isinstance(output, Output):
            raise TypeError(
                f"{what} is of type {type(output).__name__}; give graphsan.Output(...), with tensor= for a "
                "buffer that the step writes"
            )
        if output.tensor is None:
            continue
        _arrays.require_same_memory(f"{what}: tensor", output.tensor, cache.tensor)
        output_struct(name, output, output.tensor)
        array = _arrays.describe(output.tensor)
        held = array.shape[output_lane_axis(name, output, output.tensor)]
        if held < lanes:
            raise ValueError(
                f"{what}: tensor has {held} lanes, and the largest batch has {lanes} with its padding; give "
                f"a buffer of at least {lanes} lanes"
            )
        if any(stride <= 0 and size > 1 for size, stride in zip(array.shape, array.strides)):
            raise ValueError(
                f"{what}: tensor has shape {array.shape}, strides {array.strides}; each lane needs memory "
                "of its own"
            )
        if not array.writeable:
            raise ValueError(f"{what}: tensor is read-only; give the array that the step writes")
