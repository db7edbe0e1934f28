"""The examples that run without a GPU."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import graphsan

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


def run(folder, name, *arguments):
    return subprocess.run([sys.executable, str(EXAMPLES / name), *arguments], cwd=folder,
                          env=os.environ, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "fault, code, finding",
    [("none", 0, "agreed"), ("wrap", 1, "padding-write"), ("frozen", 1, "frozen-scalar"),
     ("elide", 1, "elided-write")],
)
def test_numpy_paged_write_finds_its_faults_and_no_other(tmp_path, fault, code, finding):
    result = run(tmp_path, "numpy_paged_write.py", fault)
    assert result.returncode == code, result.stdout + result.stderr
    summary = result.stdout.strip().splitlines()[-1]
    assert summary.startswith("SUMMARY: graphsan: ")
    assert finding in summary and summary.count(";") == (0 if fault == "none" else 1)
    assert (tmp_path / "numpy_paged_write.html").exists()


COMMAND = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"#.*\bexit code (\d+)")


def test_the_readmes_commands_end_as_they_say(tmp_path):
    (tmp_path / "examples").symlink_to(EXAMPLES.parent)
    lines = [line for block in COMMAND.findall((EXAMPLES / "README.md").read_text())
             for line in block.splitlines()]
    assert len(lines) >= 4
    for line in lines:
        code = EXIT_CODE.search(line)
        command = line.split("#")[0].split()
        assert command[0] == "python3"
        result = subprocess.run([sys.executable, *command[1:]], cwd=tmp_path, capture_output=True,
                                text=True, timeout=120)
        assert result.returncode == (int(code.group(1)) if code else 0), line + result.stderr


def test_insert_kv_gives_the_predicted_matrix_on_the_host_device(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    result = run(tmp_path, "minimax_insert_kv.py", "--device", "host", "--html", "pages")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "8 of 8 cells as predicted (host device)" in result.stdout
    assert len(list((tmp_path / "pages").glob("*.html"))) == 8


def test_a_gemm_in_front_leaves_the_verdict_agreed(tmp_path):
    pytest.importorskip("torch", reason="torch is not installed")
    result = run(tmp_path, "torch_gemm_step.py", "--device", "host")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif(graphsan.device_problem("cuda") is None, reason="there is a GPU")
@pytest.mark.parametrize("example", ["minimax_insert_kv.py", "torch_gemm_step.py", "triton_step.py"])
def test_cuda_without_a_gpu_is_said_in_one_line(tmp_path, example):
    pytest.importorskip("torch", reason="torch is not installed")
    result = run(tmp_path, example, *([] if "triton" in example else ["--device", "cuda"]))
    assert result.returncode == 77
    assert graphsan.device_problem("cuda") in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
