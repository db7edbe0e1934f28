#!/usr/bin/env python3
"""Validates the JSON report against docs/report.schema.json, and sees spoiled reports fail.

usage: report_schema_test.py PROGRAM   (write_sample_report, which prints the sample report)
"""
import copy
import json
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "docs/report.schema.json").read_text())
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 else None

# Keys that other programs rely on; a report without one of them is a broken contract.
RUN_KEYS = "schema_version device device_name verdict exit_code cases".split()
CASE_KEYS = """kv_dtype write_path mode batch layout generation padded verdict rows_compared replays nodes
findings ruled_out notes""".split()
FINDING_KEYS = "mechanism status where evidence experiment fix".split()
WHERE_KEYS = "cache layer rows node kernel source".split()


def sample():
    return json.loads(subprocess.run([PROGRAM, "json"], capture_output=True, check=True).stdout)


def objects(schema, path="#"):
    """Every subschema that describes an object."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield path, schema
        for name, value in schema.items():
            yield from objects(value, f"{path}/{name}")
    elif isinstance(schema, list):
        for i, value in enumerate(schema):
            yield from objects(value, f"{path}/{i}")


class ReportSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.report = sample()
        cls.validator = jsonschema.Draft202012Validator(SCHEMA)

    def refused(self, spoil):
        report = copy.deepcopy(self.report)
        spoil(report)
        return not self.validator.is_valid(report)

    def test_schema_is_valid_and_strict(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        for path, schema in objects(SCHEMA):
            self.assertIs(schema["additionalProperties"], False, path)
            self.assertEqual(set(schema["required"]), set(schema["properties"]), path)

    def test_sample_report_is_valid(self):
        errors = [f"{e.json_path}: {e.message}" for e in self.validator.iter_errors(self.report)]
        self.assertEqual(errors, [])

    def test_versions_agree(self):
        version = SCHEMA["properties"]["schema_version"]["const"]
        self.assertEqual(self.report["schema_version"], version)
        self.assertTrue(SCHEMA["$id"].endswith(":" + version))

    def test_removing_a_fixed_key_is_refused(self):
        places = [(lambda r: r, RUN_KEYS), (lambda r: r["cases"][0], CASE_KEYS),
                  (lambda r: r["cases"][0]["findings"][0], FINDING_KEYS),
                  (lambda r: r["cases"][0]["findings"][0]["where"][0], WHERE_KEYS)]
        for place, keys in places:
            for key in keys:
                self.assertTrue(self.refused(lambda r: place(r).pop(key)), key)

    def test_unknown_keys_and_words_are_refused(self):
        spoils = {
            "run key": lambda r: r.update(extra=1),
            "case key": lambda r: r["cases"][0].update(extra=1),
            "verdict": lambda r: r.update(verdict="passed"),
            "device": lambda r: r.update(device="tpu"),
            "exit code": lambda r: r.update(exit_code=2),
            "status": lambda r: r["cases"][0]["findings"][0].update(status="certain"),
            "cache": lambda r: r["cases"][0]["findings"][0]["where"][0].update(cache="index_key"),
            "mechanism": lambda r: r["cases"][0]["findings"][0].update(mechanism="Elided Write"),
            "row": lambda r: r["cases"][0]["findings"][0]["where"][0].update(rows=[[33]]),
            "class": lambda r: r["cases"][0]["row_differences"]["differences"][0].update({"class": "lost"}),
            "digest": lambda r: r["cases"][0]["row_differences"]["differences"][0].update(eager_digest="12"),
            "evidence": lambda r: r["cases"][0]["findings"][0].update(evidence="a string"),
            "padded": lambda r: r["cases"][0].update(padded=1),
            "version": lambda r: r.update(schema_version="2.0.0"),
        }
        for name, spoil in spoils.items():
            self.assertTrue(self.refused(spoil), name)

    def test_value_kinds_are_those_of_the_model_and_the_page_has_a_sentence_for_each(self):
        kinds = re.findall(r'case ValueKind::\w+:\s+return "([^"]+)"',
                           (ROOT / "src/model/facts.cpp").read_text())
        self.assertIn("other-dtype", kinds)
        value = SCHEMA["$defs"]["row_difference"]["properties"]["value"]
        self.assertEqual(value["properties"]["kind"]["enum"], kinds)
        sentences = (ROOT / "reports/html/page/js/words.js").read_text()
        sentences = sentences[sentences.index("function valueSentence"):]
        sentences = sentences[:sentences.index("\n}")]
        self.assertEqual(set(re.findall(r"^    '?([\w-]+)'?: ", sentences, re.MULTILINE)) | {"none"},
                         set(kinds))


if __name__ == "__main__":
    if PROGRAM is None:
        sys.exit(__doc__)
    unittest.main()
