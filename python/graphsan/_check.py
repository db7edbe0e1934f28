"""check(): a Python step, eagerly and as a graph."""

from __future__ import annotations

import contextlib
import ctypes
import os
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _abi, _arrays
from ._batches import Batch, make_batches
from ._declarations import Cache, Output, as_cache
from ._failures import GraphSanError, NoDeviceError
from ._inputs import RESERVED
from ._numbers import INT64, whole
from ._report import Report
from ._step import Hooks, HostedStep


def device_problem(device: str = "cuda") -> Optional[str]:
    """Why "cuda" or "host" cannot be used here, in one sentence; None where it can."""
    problem = _abi.library().graphsan_device_problem(_abi.encoded(device))
    return _abi.decoded(problem) if problem else None


def _device_of(caches: Mapping[str, Cache], device: str) -> tuple[Any, bool]:
    """The torch device of the caches (None: the host device), and whether they are torch's."""
    if device not in ("auto", "cuda", "host"):
        raise ValueError(f'device is "{device}"; it can be "auto", "cuda" or "host"')
    if device == "cuda":
        problem = device_problem("cuda")
        if problem is not None:
            raise NoDeviceError(problem)
    seen = {name: _arrays.describe(cache.tensor) for name, cache in caches.items()}
    first_name, first = next(iter(seen.items()))
    for name, array in seen.items():
        if (array.is_torch, array.is_cuda) != (first.is_torch, first.is_cuda):
            raise ValueError(
                f"caches `{first_name}` and `{name}` are of different kinds; give NumPy arrays, or torch "
                "tensors on one device, for all caches"
            )
    if first.is_cuda:
        if device == "host":
            raise ValueError(
                'device is "host" and the caches are CUDA tensors; give arrays on the CPU, or device="cuda"'
            )
        from ._torch import device_of

        return device_of([cache.tensor for cache in caches.values()]), True
    if device == "cuda":
        raise ValueError(
            'device is "cuda" and the caches lie in host memory; give torch tensors on a CUDA device '
            '(tensor.cuda()), or device="host"'
        )
    return None, first.is_torch


def _require_functions(**given: Any) -> None:
    for what, one in given.items():
        if one is not None and not callable(one):
            raise TypeError(f"{what} is of type {type(one).__name__}; give a function")


def _require_dicts(**given: Any) -> None:
    for what, one in given.items():
        if one is not None and not isinstance(one, Mapping):
            raise TypeError(f"{what} is of type {type(one).__name__}; give a dict with a name for each")
        for name in one or {}:
            if not isinstance(name, str):
                raise TypeError(f"{what}: the name {name!r} is no text")


def _require_texts(**given: Any) -> None:
    for what, one in given.items():
        if not isinstance(one, str):
            raise TypeError(f"{what} is {one!r}; give a text")


def check(
    step: Callable[..., Any],
    caches: Union[Mapping[str, Any], Cache, Any],
    slot_mapping: Optional[Sequence[Any]] = None,
    inputs: Union[None, Mapping[str, Sequence[Any]], Sequence[Mapping[str, Any]]] = None,
    *,
    batches: Optional[Sequence[Batch]] = None,
    index_slot_mapping: Optional[Sequence[Any]] = None,
    bucket: Union[None, int, Sequence[int]] = None,
    sequences: Optional[Sequence[Any]] = None,
    positions: Optional[Sequence[Any]] = None,
    outputs: Optional[Mapping[str, Output]] = None,
    opaque: Optional[Mapping[str, Any]] = None,
    history: Optional[Callable[..., Any]] = None,
    reset: Optional[Callable[[], Any]] = None,
    prepare: Optional[Callable[..., Any]] = None,
    capture: Optional[Callable[..., Any]] = None,
    dummy: Optional[Mapping[str, Any]] = None,
    pad_values: Optional[Mapping[str, int]] = None,
    device: str = "auto",
    capture_metadata: str = "dummy",
    capture_at: str = "start",
    carry: bool = False,
    seed: int = 1,
    record: Optional[Union[str, os.PathLike[str]]] = None,
    name: Optional[str] = None,
    source_lines: bool = True,
) -> Report:
    """Runs a step's batches eagerly and as a CUDA graph, compares the rows, and looks for the cause.

    `step` is called by keywords, of which it takes what it names (a torch.nn.Module: what its forward()
    names): `ctx` (a `Context`), `slot_mapping`, `index_slot_mapping`, the inputs, and the caches by their
    names. With **kwargs it is given all but the caches that it does not name. It returns None, an array with
    one row a lane, or a dict or tuple of such: its outputs.

    What to run:
        caches: name -> `Cache`, or a bare array for a key cache [pages, page_size, heads, dim]. Their
            contents are overwritten.
        slot_mapping: for each step, the row that each token must write; negative: none.
        inputs: for each step a dict of arrays with one entry a token, or a dict of lists of such. A
            Python number is handed over as it is: a graph keeps the one of the capture.
        batches: instead of these two, a list of `Batch`.
        bucket: lanes that batches are padded to, one number or one a step; else the next size that engines
            capture which holds the largest batch that a graph serves.
        outputs: what outputs are, by name, where they are not plain ones; see `Output`.
        opaque: name -> array of state that lives on from step to step and is no cache, such as counters.
        history, reset: called to write the rows that were there before step 0, and to put the caller's
            own state back to that of a fresh process.
        prepare: called instead of the refilling below, with `ctx` and the step's own values; returns a
            dict of what the step is called with. For engines that refill buffers of their own.
        capture: capture(ctx, run) for engines that capture by themselves, on CUDA: calls run() while its
            graph records, and returns the graph (torch.cuda.CUDAGraph(keep_graph=True), instantiated) or
            a list of graphs and of callables that run between them.
        dummy: numbers that a capture without a live batch is given; else those of step 0.
        pad_values: whole numbers that pad lanes of an input hold, where it is not 0 (-1 in slot mappings).

    How: `device` "auto" follows the caches; `capture_metadata` "dummy" or "none" and `capture_at` "start" or
    "live" as on the command line; `record` keeps the recording; `source_lines` off leaves Python lines out.

    The eager arm gets fresh arrays of exactly the batch's tokens; the graph arm, and its padded eager
    twin, persistent ones of `bucket` lanes, which are refilled before each replay. Pad lanes of
    floating-point inputs keep what an earlier batch left.

    Raises ValueError or TypeError for arguments that make no check, NoDeviceError without a GPU where
    device is "cuda". What the step raises is not raised here: `report.exit_code` is 4, or 1 where
    a difference had been seen before it, and `report.failure` and `report.exception` say where and what.
    """
    if not callable(step):
        raise TypeError(f"step is of type {type(step).__name__}; give a function")
    _require_functions(history=history, reset=reset, prepare=prepare, capture=capture)
    _require_dicts(outputs=outputs, opaque=opaque, dummy=dummy, pad_values=pad_values)
    _require_texts(capture_metadata=capture_metadata, capture_at=capture_at)
    if name is not None:
        _require_texts(name=name)
    seed = whole("seed", seed, 0, INT64)
    declared = caches if isinstance(caches, Mapping) else {"cache": caches}
    if not declared:
        raise ValueError("caches is empty; name at least one array that the step writes")
    named = {str(n): as_cache(str(n), c) for n, c in declared.items()}
    if len(named) < len(declared):
        raise ValueError(f"caches are called {', '.join(map(repr, declared))}; give each a text of its own")
    for what in RESERVED:
        if what in named:
            raise ValueError(
                f"a cache is called `{what}`, which the step is given anyway; choose another name"
            )
    cuda_device, tensors = _device_of(named, device)
    if capture is not None and cuda_device is None:
        raise ValueError(
            "capture= is for CUDA; leave it out on the host device, which captures the step itself"
        )
    for what, one in (opaque or {}).items():
        _arrays.require_same_memory(f"opaque `{what}`", one, next(iter(named.values())).tensor)
        if not (one.flags.c_contiguous if isinstance(one, np.ndarray) else one.is_contiguous()):
            raise ValueError(f"opaque `{what}` has gaps between its elements; give the whole array")
    hosted = HostedStep(
        step=step,
        name=name or str(getattr(step, "__name__", type(step).__name__)),
        caches=named,
        batches=make_batches(
            batches, slot_mapping, index_slot_mapping, inputs, bucket, sequences, positions
        ),
        outputs=outputs or {},
        opaque=opaque or {},
        hooks=Hooks(prepare, reset, history, capture),
        pad_values=pad_values or {},
        dummy=dummy or {},
        cuda_device=cuda_device,
        tensors=tensors,
        source_lines=source_lines,
    )
    options = _abi.CheckOptions(
        struct_size=ctypes.sizeof(_abi.CheckOptions),
        device=b"host" if cuda_device is None else b"cuda",
        capture_metadata=_abi.encoded(capture_metadata),
        capture_at=_abi.encoded(capture_at),
        record=os.fsencode(record) if record is not None else None,
        seed=seed,
        carry=carry,
    )
    return _run(hosted, options, cuda_device)


def _run(hosted: HostedStep, options: _abi.CheckOptions, cuda_device: Any) -> Report:
    library = _abi.library()
    handle = ctypes.c_void_p()
    with contextlib.ExitStack() as during:
        if cuda_device is not None:
            import torch  # type: ignore[import-not-found,unused-ignore]

            during.enter_context(torch.cuda.device(cuda_device))
        during.enter_context(hosted.failures.interrupt.held())
        result = library.graphsan_check(hosted.table, options, ctypes.byref(handle))
    why = _abi.decoded(library.graphsan_last_error()) if result != _abi.OK else ""
    failures = hosted.failures
    hosted.close()
    stop = failures.stop
    if stop is None and failures.interrupt.seen:
        stop = KeyboardInterrupt()
    if stop is not None:
        library.graphsan_report_free(handle)
        raise stop
    if result == _abi.NO_DEVICE:
        raise NoDeviceError(why)
    if result == _abi.BAD_USAGE:
        raise ValueError(why)
    if result != _abi.OK:
        raise GraphSanError(why)

    def text_as(format: str) -> str:
        text = library.graphsan_report_text(handle, _abi.encoded(format))
        if text is None:
            why = _abi.decoded(library.graphsan_last_error()) or "the library does not say why"
            raise GraphSanError(f"there is no report as {format}: {why}")
        return _abi.decoded(text)

    try:
        report = Report(text_as, failures.exception, tuple(failures.notes))
    except BaseException:
        library.graphsan_report_free(handle)
        raise
    weakref.finalize(report, library.graphsan_report_free, handle)
    return report


def require_agreed(report: Report) -> Report:
    """Raises AssertionError, whose message is the finding, unless the verdict is "agreed"."""
    __tracebackhide__ = True
    if report.verdict != "agreed":
        raise AssertionError(report.explain()) from report.exception
    return report


def assert_graph_safe(step: Callable[..., Any], *args: Any, **kwargs: Any) -> Report:
    """check() for tests: raises AssertionError, whose message is the finding, unless the verdict is
    "agreed". "inconclusive" and "hazard" fail too: nothing was proven, or a fault lies in wait."""
    __tracebackhide__ = True
    return require_agreed(check(step, *args, **kwargs))
