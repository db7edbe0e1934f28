"""Words that a caller gives, as the library reads and prints them."""

import os
import subprocess
import sys

# The names are made at run time: a literal would be kept alive by its code.
NAMED = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
import graphsan
from scene import Scene, write_rows

def named(word):
    return "".join(["the ", word, " that is named"])

scene = Scene()
counter = np.zeros(1, np.float32)

def count(counter, cache, rows, slots):
    write_rows(cache, rows + counter, slots)
    counter += 1

def step(ctx, slot_mapping, **given):
    rows, = [given[name] for name in given if name.endswith("named")]
    ctx.launch(count, counter, scene.cache, rows, slot_mapping)
    return {{named("output"): rows}}

batches = [
    graphsan.Batch(
        slots, {{named("input"): rows}}, kind=named("batch"),
        eager_reason=named("reason") if number == 3 else None,
    )
    for number, (slots, rows) in enumerate(zip(scene.slots, scene.rows))
]
report = graphsan.check(
    step, {{named("cache"): scene.cache}}, batches=batches, opaque={{named("state"): counter}},
    name=named("step"), record={record!r},
)
print(report.to_json())
"""


def test_the_library_reads_no_word_that_is_freed(tmp_path):
    record = tmp_path / "run.graphsan"
    script = NAMED.format(here=os.path.dirname(__file__), record=str(record))
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONMALLOC": "debug"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    kept = record.read_bytes()
    for word in ("step", "cache", "input", "state", "output", "batch", "reason"):
        assert f"the {word} that is named".encode() in kept
    for word in ("step", "batch", "reason"):
        assert f"the {word} that is named" in ran.stdout
