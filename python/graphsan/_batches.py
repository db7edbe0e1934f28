"""The batches of a check: what each step runs, and the bucket that it is padded to."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from . import _arrays
from ._numbers import INT32, INT64, whole

# Sizes that engines capture a decode batch for.
_BUCKETS = (1, 2, 4, *range(8, 513, 8))


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


def next_bucket(tokens: int) -> int:
    """The smallest batch size that engines capture which holds `tokens`."""
    return next((b for b in _BUCKETS if b >= tokens), -(-tokens // 256) * 256)


def _per_step(what: str, values: Any, steps: Optional[int] = None) -> list[Any]:
    if values is None:
        return [None] * (steps or 0)
    try:
        made = list(values)
    except TypeError:
        raise TypeError(f"{what} is of type {type(values).__name__}; give a list, one entry a step") from None
    if steps is not None and len(made) != steps:
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
        slot_mapping = _per_step("slot_mapping", slot_mapping)
        steps = len(slot_mapping)
        try:
            bucket = [operator.index(bucket)] * steps  # one for all
        except TypeError:
            pass
        batches = [
            Batch(*one)
            for one in zip(
                slot_mapping,
                _inputs_per_step(inputs, steps),
                _per_step("bucket", bucket, steps),
                _per_step("index_slot_mapping", index_slot_mapping, steps),
                _per_step("sequences", sequences, steps),
                _per_step("positions", positions, steps),
            )
        ]
    elif any(one is not None for one in (index_slot_mapping, inputs, bucket, sequences, positions)):
        raise ValueError(
            "batches hold inputs, bucket and the rest; give those inside graphsan.Batch only"
        )
    made = _per_step("batches", batches)
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


def _slots(what: str, step: int, values: Any, most: int = INT64) -> Any:
    if _arrays.is_tensor(values):
        values = values.detach().cpu().numpy()
    made = np.asarray(values)
    if made.ndim != 1 or made.size == 0 or made.dtype.kind not in "iu":
        raise ValueError(
            f"{what} of step {step} has shape {made.shape} and dtype {made.dtype}; give the whole number "
            "of a row for each token, negative where nothing is written"
        )
    for entry in (made.min(), made.max()):
        whole(f"{what} of step {step}: an entry", entry, -most - 1, most)
    return np.ascontiguousarray(made, np.int64)


def _completed(step: int, batch: Batch, first: Batch, default_bucket: int) -> Batch:
    slots = _slots("slot_mapping", step, batch.slot_mapping)
    tokens = slots.size
    # A batch that no graph serves is not padded beyond itself.
    usual = max(default_bucket, tokens) if batch.eager_reason else default_bucket
    bucket = usual
    if batch.bucket is not None:
        bucket = whole(f"bucket of step {step}", batch.bucket, 1, INT32)
    if bucket < tokens:
        raise ValueError(
            f"step {step} has {tokens} tokens in a bucket of {bucket}; a bucket is the padded size, at "
            "least the number of tokens"
        )
    for name, text in (("kind", batch.kind), ("eager_reason", batch.eager_reason or "")):
        if not isinstance(text, str):
            raise TypeError(f"{name} of step {step} is {text!r}; give a text")
    for name in batch.inputs:
        if not isinstance(name, str):
            raise TypeError(f"inputs of step {step}: the name {name!r} is no text")
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
        made = _slots(name, step, value, np.iinfo(dtype).max).astype(dtype)
        if made.size != tokens:
            raise ValueError(f"{name} of step {step} has {made.size} entries for {tokens} tokens")
        extra[name] = made
    if (batch.index_slot_mapping is None) != (first.index_slot_mapping is None):
        raise ValueError(
            f"index_slot_mapping is given in one of steps 0 and {step} alone; give it in each, or in none"
        )
    if set(batch.inputs) != set(first.inputs):
        raise ValueError(
            f"step {step} has the inputs {sorted(batch.inputs)} and step 0 {sorted(first.inputs)}; give "
            "the same names in each step"
        )
    for name, value in batch.inputs.items():
        _require_lanes(step, name, value, first.inputs[name], tokens)
    inputs = {
        name: value if is_number(value) or _arrays.is_array(value) else np.asarray(value)
        for name, value in batch.inputs.items()
    }
    return Batch(slots, inputs, bucket, kind=batch.kind, eager_reason=batch.eager_reason, **extra)


def is_number(value: Any) -> bool:
    """Whether an input is handed over as it is."""
    return isinstance(value, (bool, int, float, np.generic))


def _require_lanes(step: int, name: str, value: Any, first: Any, tokens: int) -> None:
    if is_number(value) != is_number(first):
        raise ValueError(
            f"input `{name}` is a number in one step and an array in another (step {step})"
        )
    if is_number(value):
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
