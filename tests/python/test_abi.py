"""The ctypes structs against the headers, as a C compiler lays them out."""

import ctypes
import os
import pathlib
import shutil
import subprocess

import pytest

from graphsan import _abi

INCLUDE = pathlib.Path(__file__).parents[2] / "include"
STRUCTS = {
    "graphsan_rows": _abi.Rows,
    "graphsan_cache": _abi.Cache,
    "graphsan_output": _abi.Output,
    "graphsan_input": _abi.Input,
    "graphsan_state": _abi.State,
    "graphsan_description": _abi.Description,
    "graphsan_batch": _abi.Batch,
    "graphsan_call": _abi.Call,
    "graphsan_segment": _abi.Segment,
    "graphsan_field": _abi.Field,
    "graphsan_host_kernel": _abi.HostKernel,
    "graphsan_host": _abi.Host,
    "graphsan_plugin_table": _abi.PluginTable,
    "graphsan_check_options": _abi.CheckOptions,
}
CONSTANTS = {
    "GRAPHSAN_PLUGIN_ABI": _abi.PLUGIN_ABI,
    "GRAPHSAN_API_VERSION": _abi.API_VERSION,
    "GRAPHSAN_PADDED_EAGER": _abi.PADDED_EAGER,
    "GRAPHSAN_GRAPH": _abi.GRAPH,
    "GRAPHSAN_METADATA_DUMMY": _abi.METADATA_DUMMY,
    "GRAPHSAN_METADATA_NONE": _abi.METADATA_NONE,
    "GRAPHSAN_BAD_USAGE": _abi.BAD_USAGE,
    "GRAPHSAN_FAILED": _abi.FAILED,
    "GRAPHSAN_NO_DEVICE": _abi.NO_DEVICE,
    **{f"GRAPHSAN_{name.upper()}": value for name, value in _abi.DTYPES.items()},
    **{f"GRAPHSAN_{name.upper().replace('-', '_')}": value for name, value in _abi.KINDS.items()},
}


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_layout_and_constants_are_those_of_the_headers(tmp_path):
    lines, expected = [], []
    for name, struct in STRUCTS.items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(ctypes.sizeof(struct))
        for field, _ in struct._fields_:
            lines.append(f'printf("%zu\\n", offsetof({name}, {field}));')
            expected.append(getattr(struct, field).offset)
    for name, value in CONSTANTS.items():
        lines.append(f'printf("%zu\\n", (size_t){name});')
        expected.append(value)
    source = tmp_path / "layout.c"
    source.write_text(
        "#include <graphsan/check.h>\n#include <stdio.h>\nint main(void) {\n"
        + "\n".join(lines)
        + "\n}\n"
    )
    subprocess.run(["cc", f"-I{INCLUDE}", str(source), "-o", str(tmp_path / "layout")], check=True)
    printed = subprocess.run(
        [tmp_path / "layout"], check=True, capture_output=True, text=True
    ).stdout
    assert [int(line) for line in printed.split()] == expected


def test_a_library_that_is_not_there_is_said_with_what_to_do(monkeypatch):
    monkeypatch.setattr(_abi, "_library", None)
    monkeypatch.setenv("GRAPHSAN_LIBRARY", os.path.join("nowhere", "libgraphsan.so"))
    with pytest.raises(ImportError, match="pip install"):
        _abi.library()


def test_a_file_that_is_no_library_is_said_with_what_to_do(monkeypatch, tmp_path):
    file = tmp_path / "libgraphsan.so"
    file.write_text("text")
    monkeypatch.setattr(_abi, "_library", None)
    monkeypatch.setenv("GRAPHSAN_LIBRARY", str(file))
    with pytest.raises(ImportError, match="ldd"):
        _abi.library()
