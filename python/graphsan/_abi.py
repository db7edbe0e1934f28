"""The C ABI of libgraphsan.so as ctypes sees it: `graphsan/plugin.h` and `graphsan/check.h`.

Names and order of the fields are the headers'; a test compiles the headers and compares the offsets.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
)
from ctypes import c_uint32, c_void_p
from typing import Optional

PLUGIN_ABI = 1
API_VERSION = 1

DTYPES = {"u8": 0, "i32": 1, "i64": 2, "f32": 3, "bf16": 4, "fp8_e4m3": 5, "fp8_e5m2": 6}
KINDS = {"key": 0, "value": 1, "index-key": 2, "scale": 3, "top-k": 4, "output": 5, "other": 6}
EAGER, PADDED_EAGER, GRAPH = 0, 1, 2
METADATA_LIVE, METADATA_DUMMY, METADATA_NONE = 0, 1, 2
OK, BAD_USAGE, FAILED, NO_DEVICE = 0, 2, 4, 77


class Rows(Structure):
    _fields_ = [("first", c_int64), ("last", c_int64)]


class Cache(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("kind", c_int32),
        ("layer", c_int32),
        ("dtype", c_int32),
        ("sink_count", c_int32),
        ("pages", c_int64),
        ("page_size", c_int64),
        ("heads", c_int64),
        ("dim", c_int64),
        ("page_stride", c_int64),
        ("slot_stride", c_int64),
        ("head_stride", c_int64),
        ("data", c_void_p),
        ("sinks", POINTER(Rows)),
    ]


class Output(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("kind", c_int32),
        ("layer", c_int32),
        ("dtype", c_int32),
        ("reserved", c_int32),
        ("heads", c_int64),
        ("dim", c_int64),
        ("lane_stride", c_int64),
        ("head_stride", c_int64),
        ("data", c_void_p),
    ]


class Input(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("data", c_void_p),
        ("lane_bytes", c_int64),
        ("lane_stride", c_int64),
        ("dtype", c_int32),
        ("is_activation", c_int32),
        ("pad_value", c_int64),
    ]


class State(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("data", c_void_p),
        ("bytes", c_int64),
    ]


class Description(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("steps", c_int32),
        ("cache_count", c_int32),
        ("caches", POINTER(Cache)),
        ("state_count", c_int32),
        ("top_k", c_int32),
        ("block_size", c_int64),
        ("states", POINTER(State)),
    ]


class Batch(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("tokens", c_int32),
        ("bucket", c_int32),
        ("slots", POINTER(c_int64)),
        ("index_slots", POINTER(c_int64)),
        ("sequences", POINTER(c_int32)),
        ("positions", POINTER(c_int64)),
        ("kind", c_char_p),
        ("eager_reason", c_char_p),
    ]


class Call(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("step", c_int32),
        ("arm", c_int32),
        ("tokens", c_int32),
        ("bucket", c_int32),
        ("metadata", c_int32),
        ("capturing", c_int32),
        ("stream", c_void_p),
    ]


OP = CFUNCTYPE(c_int, c_void_p, c_void_p)


class Segment(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("graph", c_void_p),
        ("exec", c_void_p),
        ("eager_name", c_char_p),
        ("eager", OP),
        ("argument", c_void_p),
    ]


class Field(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("offset", c_uint32),
        ("size", c_uint32),
        ("is_pointer", c_int32),
        ("is_written", c_int32),
    ]


KERNEL_RUN = CFUNCTYPE(None, c_void_p)


class HostKernel(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("run", KERNEL_RUN),
        ("argument_bytes", c_size_t),
        ("fields", POINTER(Field)),
        ("field_count", c_int32),
    ]


class Host(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("is_cuda", c_int32),
        ("reserved", c_int32),
        ("fail", CFUNCTYPE(None, c_void_p, c_char_p)),
        ("allocate", CFUNCTYPE(c_void_p, c_void_p, c_char_p, c_size_t)),
        ("copy", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t)),
        ("fill", CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_uint8, c_size_t)),
        ("synchronize", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("launch", CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(HostKernel), c_void_p)),
        ("label", CFUNCTYPE(None, c_void_p, c_void_p, c_char_p)),
        ("run_eagerly", CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p, OP, c_void_p)),
    ]


CREATE = CFUNCTYPE(c_int, POINTER(Host), c_char_p, POINTER(c_void_p))
DESTROY = CFUNCTYPE(None, c_void_p)
DESCRIBE = CFUNCTYPE(c_int, c_void_p, POINTER(Description))
BATCH = CFUNCTYPE(c_int, c_void_p, c_int32, POINTER(Batch))
CALL = CFUNCTYPE(c_int, c_void_p, POINTER(Call))
ON_STREAM = CFUNCTYPE(c_int, c_void_p, c_void_p)
INPUTS = CFUNCTYPE(c_int, c_void_p, POINTER(Call), POINTER(POINTER(Input)), POINTER(c_int32))
OUTPUTS = CFUNCTYPE(c_int, c_void_p, POINTER(Call), POINTER(POINTER(Output)), POINTER(c_int32))
CAPTURE = CFUNCTYPE(
    c_int,
    c_void_p,
    POINTER(Call),
    POINTER(POINTER(Segment)),
    POINTER(c_int32),
    POINTER(c_void_p),
)
RELEASE = CFUNCTYPE(None, c_void_p, c_void_p)


class PluginTable(Structure):
    _fields_ = [
        ("abi_version", c_uint32),
        ("reserved", c_uint32),
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("create", CREATE),
        ("destroy", DESTROY),
        ("describe", DESCRIBE),
        ("batch", BATCH),
        ("prepare", CALL),
        ("run", CALL),
        ("reset", ON_STREAM),
        ("history", ON_STREAM),
        ("inputs", INPUTS),
        ("outputs", OUTPUTS),
        ("capture", CAPTURE),
        ("release", RELEASE),
    ]


class CheckOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_char_p),
        ("step_options", c_char_p),
        ("capture_metadata", c_char_p),
        ("capture_at", c_char_p),
        ("record", c_char_p),
        ("seed", c_int64),
        ("carry", c_int32),
        ("reserved", c_int32),
    ]


def encoded(text: str) -> bytes:
    """A text of the caller's for the library: UTF-8, whatever it holds."""
    return text.encode("utf-8", "backslashreplace")


def decoded(text: Optional[bytes]) -> str:
    """A text of the library's; empty where it has none."""
    return (text or b"").decode("utf-8", "replace")


def library_path() -> str:
    """The library that this process uses: GRAPHSAN_LIBRARY, or the one inside the package."""
    chosen = os.environ.get("GRAPHSAN_LIBRARY")
    if chosen:
        return chosen
    return str(pathlib.Path(__file__).with_name("libgraphsan.so"))


def _load() -> ctypes.CDLL:
    path = library_path()
    if not os.path.exists(path):
        raise ImportError(
            f"{path}: no such file; install the package with `pip install .`, or set "
            "GRAPHSAN_LIBRARY to the path of a built libgraphsan.so"
        )
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"{path} cannot be loaded: {error}; `ldd {path}` lists what it needs"
        ) from error
    library.graphsan_api_version.restype = c_int
    if library.graphsan_api_version() != API_VERSION:
        raise ImportError(
            f"{path} has API version {library.graphsan_api_version()}, and this package is made for "
            f"{API_VERSION}; install package and library of one release"
        )
    library.graphsan_version.restype = c_char_p
    library.graphsan_last_error.restype = c_char_p
    library.graphsan_device_problem.restype = c_char_p
    library.graphsan_device_problem.argtypes = [c_char_p]
    library.graphsan_check.restype = c_int
    library.graphsan_check.argtypes = [
        POINTER(PluginTable),
        POINTER(CheckOptions),
        POINTER(c_void_p),
    ]
    library.graphsan_report_text.restype = c_char_p
    library.graphsan_report_text.argtypes = [c_void_p, c_char_p]
    library.graphsan_report_free.restype = None
    library.graphsan_report_free.argtypes = [c_void_p]
    return library


_loading = threading.Lock()
_library: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """The loaded library; loaded at the first call. Raises ImportError with how to fix it."""
    global _library
    with _loading:
        if _library is None:
            _library = _load()
        return _library
