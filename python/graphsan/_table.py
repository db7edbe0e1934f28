"""The ABI's table of functions, over a hosted step."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Callable

from . import _abi

if TYPE_CHECKING:
    from ._step import HostedStep


def make_table(step: HostedStep) -> _abi.PluginTable:
    """The table's functions refer to the step, which refers to the table: close() ends that."""
    guarded = step.failures.guarded

    def create(host: Any, _options: bytes, made: Any) -> int:
        made[0] = 1
        return guarded(lambda: step.create(ctypes.cast(host, ctypes.POINTER(_abi.Host))))

    def of_call(body: Callable[[Any], None]) -> Any:
        return _abi.CALL(lambda _self, call: guarded(lambda: body(call.contents)))

    def on_stream(body: Callable[[int], None]) -> Any:
        return _abi.ON_STREAM(lambda _self, stream: guarded(lambda: body(stream or 0)))

    table = _abi.PluginTable(
        abi_version=_abi.PLUGIN_ABI,
        struct_size=ctypes.sizeof(_abi.PluginTable),
        name=_abi.encoded(step.name),
        create=_abi.CREATE(create),
        destroy=_abi.DESTROY(lambda _self: step.destroy()),
        describe=_abi.DESCRIBE(
            lambda _self, out: guarded(lambda: step.described.describe(out.contents))
        ),
        batch=_abi.BATCH(
            lambda _self, number, out: guarded(lambda: step.described.batch(number, out.contents))
        ),
        prepare=of_call(step.prepare),
        run=of_call(step.run),
        reset=on_stream(step.reset),
        inputs=_abi.INPUTS(
            lambda _self, call, out, count: guarded(lambda: step.inputs(call.contents, out, count))
        ),
        outputs=_abi.OUTPUTS(
            lambda _self, call, out, count: guarded(
                lambda: step.described.outputs(call.contents, out, count)
            )
        ),
    )
    if step.has_history:
        table.history = on_stream(step.history)
    if step.is_cuda:
        table.capture = _abi.CAPTURE(
            lambda _self, call, out, count, handle: guarded(
                lambda: step.capture(call.contents, out, count, handle)
            )
        )
        table.release = _abi.RELEASE(lambda _self, handle: step.release(handle or 0))
    return table
