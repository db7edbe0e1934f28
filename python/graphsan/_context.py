"""What a step is told of the call that it serves, and what it may ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional, Protocol


class Metadata(NamedTuple):
    """What an engine knows of the batch: `slot_mapping` and `inputs` are the call's own buffers."""

    tokens: int
    bucket: int
    slot_mapping: Any
    index_slot_mapping: Any
    inputs: Mapping[str, Any]


class CallFacts(NamedTuple):
    step: int
    arm: str
    tokens: int
    bucket: int
    capturing: bool
    metadata: Optional[Metadata]
    stream: int


class Backend(Protocol):
    """How a context's requests reach the device."""

    device: str

    def launch(
        self,
        context: Context,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None: ...

    def copy(self, context: Context, to: Any, value: Any) -> None: ...

    def label(self, context: Context, text: Optional[str]) -> None: ...

    def eager_break(self, context: Context, name: str, op: Callable[[], Any]) -> None: ...


class Context:
    """One call of a step.

    `step`: number of the batch; -1 while a warm-up or a capture has none. `arm`: "eager" (exactly
    `tokens` lanes), "padded-eager" or "graph" (the graph's persistent buffers of `bucket` lanes).
    `capturing`: the call is recorded, and Python runs this once only. `metadata`: what the engine
    knows of the batch; None in a capture without metadata.
    """

    def __init__(self, facts: CallFacts, backend: Backend):
        self._facts = facts
        self._backend = backend

    @property
    def step(self) -> int:
        return self._facts.step

    @property
    def arm(self) -> str:
        return self._facts.arm

    @property
    def tokens(self) -> int:
        return self._facts.tokens

    @property
    def bucket(self) -> int:
        return self._facts.bucket

    @property
    def lanes(self) -> int:
        """Lanes of the buffers that this call was given."""
        return self._facts.tokens if self._facts.arm == "eager" else self._facts.bucket

    @property
    def capturing(self) -> bool:
        return self._facts.capturing

    @property
    def metadata(self) -> Optional[Metadata]:
        return self._facts.metadata

    @property
    def stream(self) -> int:
        """The stream's handle: a cudaStream_t on CUDA."""
        return self._facts.stream

    @property
    def device(self) -> str:
        """ "host" or "cuda"."""
        return self._backend.device

    def launch(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Launches `fn(*args, **kwargs)` as a kernel of the host device.

        Arrays go by address, numbers by value, both taken now. `fn` runs when the stream gets to it: a
        captured launch runs at each replay, with the addresses and numbers of the capture, and what the
        arrays then hold. Its arrays are views of device memory, valid while it runs: copy what you keep. So
        are those of its closure; to reach a declared array otherwise is a TypeError that says how to pass it.
        On CUDA `fn` is called at once: the kernels that it launches are what is captured.
        """
        self._backend.launch(self, fn, args, kwargs)

    def copy(self, to: Any, value: Any) -> None:
        """Copies an array into another of the same size, in stream order."""
        self._backend.copy(self, to, value)

    def label(self, text: Optional[str]) -> None:
        """Names the work that follows in place of the Python line; None: no more."""
        self._backend.label(self, text)

    def eager_break(self, fn: Callable[..., Any], *args: Any, name: Optional[str] = None) -> None:
        """Runs `fn(*args)` outside the graph: the graph ends before it and another begins after it, and at
        each replay the Python of `fn` runs again in between, where this context's `metadata` is the live
        one. Tensors among `args` keep the addresses of the capture."""
        title = name or str(getattr(fn, "__name__", "eager op"))
        self._backend.eager_break(self, title, lambda: fn(*args))
