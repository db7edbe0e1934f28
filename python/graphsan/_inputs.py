"""The inputs of a step: which it takes, and the buffers that they lie in."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

from . import _arrays
from ._batches import Batch, is_number
from ._numbers import whole

RESERVED = ("ctx", "slot_mapping", "index_slot_mapping")


def accepted(
    step: Callable[..., Any],
    required: Sequence[str],
    offered: Sequence[str],
    only_named: Sequence[str] = (),
) -> list[str]:
    """Which of `offered` a callable takes by name; all of `required`. One with **kwargs takes all of it,
    but of `only_named` what it names. Raises TypeError with how to fix it."""
    title = getattr(step, "__name__", type(step).__name__)
    anything = [name for name in offered if name not in only_named]
    try:
        parameters = inspect.signature(_arrays.called(step)).parameters.values()
    except (TypeError, ValueError):  # built-in functions may have none
        return anything
    kinds = {p.kind for p in parameters}
    for p in parameters:
        if p.kind is p.POSITIONAL_ONLY and p.default is p.empty:
            raise TypeError(
                f"{title}() takes `{p.name}` by position only, and is called by keywords: drop the `/`"
            )
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_any = inspect.Parameter.VAR_KEYWORD in kinds
    if kinds == {inspect.Parameter.VAR_POSITIONAL}:
        raise TypeError(
            f"{title}() takes only *{next(iter(parameters)).name}, and is called by keywords: name its "
            "parameters, or take **kwargs"
        )
    for name in required:
        if name not in by_name and not takes_any:
            raise TypeError(
                f"{title}() takes no `{name}`, which is an input; its parameters are "
                f"{', '.join(by_name) or 'none'}. The step is called by keywords: name a parameter "
                f"`{name}`, or drop the input"
            )
    for p in parameters:
        if p.name in by_name and p.default is p.empty and p.name not in offered:
            raise TypeError(
                f"{title}() needs `{p.name}`, which nothing gives; the step is called by keywords, of "
                f"{', '.join(offered)}"
            )
    return [name for name in offered if name in by_name or (takes_any and name in anything)]


def _require_fitting(
    arrays: Mapping[str, Any],
    scalars: Sequence[str],
    pad_values: Mapping[str, Any],
    dummy: Mapping[str, Any],
) -> None:
    """Raises TypeError or ValueError for a pad value that no lane can hold, or a dummy that is no number."""
    for name in (*pad_values, *dummy):
        if name not in arrays and name not in scalars:
            raise ValueError(
                f"`{name}` is no input; inputs are {', '.join((*arrays, *scalars)) or 'none'}"
            )
    for name, value in pad_values.items():
        if name in scalars:
            raise TypeError(
                f"pad_values: `{name}` is a number and has no lanes; dummy= gives what a capture gets of it"
            )
        low, high = _arrays.limits(arrays[name])
        whole(f"pad_values: `{name}`", value, low, high)
    for name, value in dummy.items():
        if name in arrays:
            raise TypeError(
                f"dummy: `{name}` is an array, of which a capture gets pad lanes; pad_values= says what they "
                "hold"
            )
        if not is_number(value):
            raise TypeError(
                f"dummy: `{name}` is of type {type(value).__name__}; give a number, as in the batches"
            )


class InputBuffers:
    """The inputs of a step: exact fresh ones for the eager arm, persistent padded ones for the others."""

    def __init__(
        self,
        batches: Sequence[Batch],
        pad_values: Mapping[str, int],
        dummy: Mapping[str, Any],
        backend: Any,
    ):
        self._batches = batches
        self._backend = backend
        memory = self._memory = backend.memory
        self._dummy = dummy
        first = batches[0]
        self.scalars = [name for name, v in first.inputs.items() if not _arrays.is_array(v)]
        for name in first.inputs:
            if name in RESERVED:
                raise ValueError(
                    f"an input is called `{name}`, which the step is given anyway; choose another name"
                )
        shown: dict[str, str] = {name.replace("_", " "): name for name in RESERVED}
        for name in first.inputs:
            other = shown.setdefault(name.replace("_", " "), name)
            if other != name:
                raise ValueError(f"`{name}` and `{other}` look alike in a report; choose another name")
        self._sources: list[dict[str, Any]] = []
        for batch in batches:
            arrays = {"slot_mapping": memory.slots(batch.slot_mapping)}
            if batch.index_slot_mapping is not None:
                arrays["index_slot_mapping"] = memory.slots(batch.index_slot_mapping)
            for name, value in batch.inputs.items():
                if name not in self.scalars:
                    arrays[name] = memory.source(value)
            self._sources.append(arrays)
        _require_fitting(self._sources[0], self.scalars, pad_values, dummy)
        self.pads: dict[str, Optional[int]] = {}
        for name, value in self._sources[0].items():
            pad: Optional[int] = None if _arrays.describe(value).is_float else 0
            if name in ("slot_mapping", "index_slot_mapping"):
                pad = -1
            self.pads[name] = int(pad_values[name]) if name in pad_values else pad
        lanes = max(int(batch.bucket or 0) for batch in batches)
        self.padded = {
            name: memory.empty((lanes, *value.shape[1:]), value)
            for name, value in self._sources[0].items()
        }
        self._eager: list[Optional[dict[str, Any]]] = [None] * len(batches)
        self._set_up()

    def reset(self) -> None:
        self._set_up()
        for buffer in self.padded.values():
            self._backend.upload(buffer)

    def _set_up(self) -> None:
        """Padding as a busy server has it: values of some batch, never zeros."""
        for name, buffer in self.padded.items():
            pad = self.pads[name]
            if pad is not None:
                buffer[...] = pad
                continue
            source = self._sources[0][name]
            for first in range(0, buffer.shape[0], source.shape[0]):
                part = buffer[first : first + source.shape[0]]
                self._memory.assign(part, source[: part.shape[0]])

    def _numbers(self, step: int) -> dict[str, Any]:
        numbers = {name: self._batches[max(step, 0)].inputs[name] for name in self.scalars}
        if step < 0:
            numbers.update({name: v for name, v in self._dummy.items() if name in self.scalars})
        return numbers

    def fresh(self, step: int) -> dict[str, Any]:
        made = {name: self._memory.clone(value) for name, value in self._sources[step].items()}
        self._eager[step] = made
        return {**made, **self._numbers(step)}

    def refill(self, step: int, tokens: int, bucket: int) -> dict[str, Any]:
        """Fills the persistent buffers: real lanes, then pad values; activations keep what was there."""
        for name, buffer in self.padded.items():
            if step >= 0:
                self._memory.assign(buffer[:tokens], self._sources[step][name])
            pad = self.pads[name]
            if pad is not None:
                buffer[tokens if step >= 0 else 0 : bucket] = pad
            self._backend.upload(buffer)
        return {**self.lanes("graph", step, bucket), **self._numbers(step)}

    def lanes(self, arm: str, step: int, bucket: int) -> dict[str, Any]:
        """The arrays of a call, filled or not."""
        if arm != "eager":
            return {name: buffer[:bucket] for name, buffer in self.padded.items()}
        if self._eager[step] is None:
            self.fresh(step)
        return self._eager[step] or {}

    def sources(self, step: int, bucket: int) -> dict[str, Any]:
        """What a caller who refills its own buffers is given."""
        if step >= 0:
            return {**self._sources[step], **self._numbers(step)}
        made = self.refill(-1, bucket, bucket)
        return {n: v if n in self.scalars else self._memory.clone(v) for n, v in made.items()}
