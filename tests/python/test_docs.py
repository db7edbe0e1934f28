"""The Python of docs/own-steps.md runs as it stands there."""

import pathlib
import re

import graphsan

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "own-steps.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_block_runs_in_the_pages_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text())
    assert len(blocks) >= 3
    scope = {}
    for i, block in enumerate(blocks):
        file = tmp_path / f"block_{i}.py"
        file.write_text(block)
        exec(compile(block, str(file), "exec"), scope)
    scope["test_decode_step"](graphsan)
    assert "padding-write" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()


def test_the_smallest_example_is_small():
    first = BLOCK.findall(PAGE.read_text())[0]
    assert len([line for line in first.splitlines() if line.strip()]) <= 15
