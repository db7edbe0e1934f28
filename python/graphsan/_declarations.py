"""What a caller declares of a step: its caches, outputs and batches."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional, Union

import numpy as np

from . import _abi, _arrays

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
# Sizes that engines capture a decode batch for.
_BUCKETS = (1, 2, 4, *range(8, 513, 8))


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


@dataclass(frozen=True)
class Batch:
    """The batch of one step.

    `slot_mapping`: the row of key and value that each real lane must write; negative: none.
    `inputs`: arrays with one entry a lane, and Python scalars. `bucket`: the lanes of the graph that
    serves the batch. `eager_reason`: set where the engine runs this batch without a graph.
    """

    slot_mapping: Any
    inputs: Mapping[str, Any] = field(default_factory=dict)
    bucket: Optional[int] = None
    index_slot_mapping: Any = None
    sequences: Any = None
    positions: Any = None
    kind: str = "decode"
    eager_reason: Optional[str] = None

    @property
    def tokens(self) -> int:
        return len(self.slot_mapping)


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
    pages = size.get("page")
    if pages is None:
        if page_size is None or page_size < 1 or size["slot"] % page_size:
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
        layer=cache.layer,
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
    sinks = [(s, s + 1) if isinstance(s, int) else (int(s[0]), int(s[1])) for s in cache.sinks]
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
        layer=output.layer,
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


def next_bucket(tokens: int) -> int:
    """The smallest batch size that engines capture which holds `tokens`."""
    return next((b for b in _BUCKETS if b >= tokens), -(-tokens // 256) * 256)


def _per_step(what: str, values: Any, steps: int) -> list[Any]:
    if values is None:
        return [None] * steps
    made = list(values)
    if len(made) != steps:
        raise ValueError(f"{what} has {len(made)} entries for {steps} steps; give one a step")
    return made


def _inputs_per_step(inputs: Any, steps: int) -> list[Mapping[str, Any]]:
    if inputs is None:
        return [{} for _ in range(steps)]
    if isinstance(inputs, Mapping):
        columns = {
            name: _per_step(f"input `{name}`", column, steps) for name, column in inputs.items()
        }
        return [{name: column[i] for name, column in columns.items()} for i in range(steps)]
    made = _per_step("inputs", inputs, steps)
    for step, one in enumerate(made):
        if not isinstance(one, Mapping):
            raise TypeError(
                f"inputs of step {step} are of type {type(one).__name__}; give a dict of arrays for each "
                "step, or one dict with a list of arrays under each name"
            )
    return made


def make_batches(
    batches: Any,
    slot_mapping: Any,
    index_slot_mapping: Any,
    inputs: Any,
    bucket: Any,
    sequences: Any,
    positions: Any,
) -> list[Batch]:
    """The batches of a check, completed and checked. Raises ValueError or TypeError with how to fix it."""
    if (batches is None) == (slot_mapping is None):
        raise ValueError(
            "give slot_mapping (for each step, the row that each token must write) or batches (a list "
            "of graphsan.Batch), one of the two"
        )
    if batches is None:
        slot_mapping = list(slot_mapping)
        steps = len(slot_mapping)
        buckets = bucket if isinstance(bucket, Sequence) else [bucket] * steps
        batches = [
            Batch(*one)
            for one in zip(
                slot_mapping,
                _inputs_per_step(inputs, steps),
                _per_step("bucket", buckets, steps),
                _per_step("index_slot_mapping", index_slot_mapping, steps),
                _per_step("sequences", sequences, steps),
                _per_step("positions", positions, steps),
            )
        ]
    elif any(one is not None for one in (index_slot_mapping, inputs, bucket, sequences, positions)):
        raise ValueError(
            "batches hold inputs, bucket and the rest; give those inside graphsan.Batch only"
        )
    made = list(batches)
    if len(made) < 2:
        raise ValueError(
            f"{len(made)} steps; give at least 2 with different inputs, since a graph that ignores its "
            "inputs cannot be told from one that reads them in a single step"
        )
    for one in made:
        if not isinstance(one, Batch):
            raise TypeError(f"a batch is of type {type(one).__name__}; give graphsan.Batch objects")
    served = [one for one in made if not one.eager_reason] or made
    default = next_bucket(max(_slots("slot_mapping", 0, one.slot_mapping).size for one in served))
    return [_completed(i, one, made[0], default) for i, one in enumerate(made)]


def _slots(what: str, step: int, values: Any) -> np.ndarray:
    if _arrays.is_tensor(values):
        values = values.detach().cpu().numpy()
    made = np.asarray(values)
    if made.ndim != 1 or made.size == 0 or made.dtype.kind not in "iu":
        raise ValueError(
            f"{what} of step {step} has shape {made.shape} and dtype {made.dtype}; give the whole number "
            "of a row for each token, negative where nothing is written"
        )
    return np.ascontiguousarray(made, np.int64)


def _completed(step: int, batch: Batch, first: Batch, default_bucket: int) -> Batch:
    slots = _slots("slot_mapping", step, batch.slot_mapping)
    tokens = slots.size
    # A batch that no graph serves is not padded beyond itself.
    usual = max(default_bucket, tokens) if batch.eager_reason else default_bucket
    bucket = usual if batch.bucket is None else int(batch.bucket)
    if bucket < tokens:
        raise ValueError(
            f"step {step} has {tokens} tokens in a bucket of {bucket}; a bucket is the padded size, at "
            "least the number of tokens"
        )
    extra: dict[str, Any] = {}
    for name, dtype in (
        ("index_slot_mapping", np.int64),
        ("sequences", np.int32),
        ("positions", np.int64),
    ):
        value = getattr(batch, name)
        if value is None:
            extra[name] = None
            continue
        made = _slots(name, step, value).astype(dtype)
        if made.size != tokens:
            raise ValueError(f"{name} of step {step} has {made.size} entries for {tokens} tokens")
        extra[name] = made
    if set(batch.inputs) != set(first.inputs):
        raise ValueError(
            f"step {step} has the inputs {sorted(batch.inputs)} and step 0 {sorted(first.inputs)}; give "
            "the same names in each step"
        )
    for name, value in batch.inputs.items():
        _require_lanes(step, name, value, first.inputs[name], tokens)
    inputs = {
        name: value if _is_scalar(value) or _arrays.is_array(value) else np.asarray(value)
        for name, value in batch.inputs.items()
    }
    return Batch(slots, inputs, bucket, kind=batch.kind, eager_reason=batch.eager_reason, **extra)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (bool, int, float, np.generic))


def _require_lanes(step: int, name: str, value: Any, first: Any, tokens: int) -> None:
    if _is_scalar(value) != _is_scalar(first):
        raise ValueError(
            f"input `{name}` is a number in one step and an array in another (step {step})"
        )
    if _is_scalar(value):
        return
    array = value if _arrays.is_array(value) else np.asarray(value)
    earlier = first if _arrays.is_array(first) else np.asarray(first)
    if array.ndim == 0 or array.shape[0] != tokens:
        raise ValueError(
            f"input `{name}` of step {step} has shape {tuple(array.shape)} for {tokens} tokens: its first "
            "dimension is the lane; let the step close over what has no entry for each lane"
        )
    if tuple(array.shape[1:]) != tuple(earlier.shape[1:]) or array.dtype != earlier.dtype:
        raise ValueError(
            f"input `{name}` of step {step} has lanes of {tuple(array.shape[1:])} {array.dtype}, and of "
            f"{tuple(earlier.shape[1:])} {earlier.dtype} in step 0; a graph's buffer has one shape and dtype"
        )
