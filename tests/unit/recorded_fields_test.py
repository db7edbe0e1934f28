#!/usr/bin/env python3
"""Checks that every member of every recorded value is in its list of fields in src/record.

A member that is in the model and not in its list would be lost in recordings and between processes
without a word.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Stored apart from the other fields of a run, one by one.
ELSEWHERE = {("RunReport", "cases"), ("RunReport", "environment"), ("RunReport", "confusion")}
# Not part of a recording: events pass by, digests have a form of their own, and a selftest, which
# alone has a matrix, is not recorded.
NOT_RECORDED = {"Digest", "EventKey", "PhaseStarted", "WorkLaunched", "SegmentCaptured", "RowsHashed",
                "RowDiffers", "AllocationChanged", "Event", "ConfusionMatrix"}


def structs(text):
    """(name, members) of each struct of a header; member functions are no members here."""
    text = re.sub(r"//.*", "", text)
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        members = []
        for statement in re.split(r";", re.sub(r"\{[^{}]*\}", "", body)):
            declared = re.fullmatch(r"\s*[\w:<>, ]+\s(\w+)(\s*=[^()]*)?\s*", statement)
            if declared and "(" not in statement:
                members.append(declared[1])
        yield name, members


def listed_fields(text):
    """Names of the members that each fields() function lists, by type."""
    functions = re.findall(r"void fields\(Archive& a, model::(\w+)& v\) \{\n(.*?)^\}", text, re.M | re.S)
    return {name: set(re.findall(r"\bv\.(\w+)", body)) for name, body in functions}


class RecordedFields(unittest.TestCase):
    def setUp(self):
        self.listed = listed_fields("".join(
            p.read_text() for p in sorted((ROOT / "src/record").glob("*_fields.hpp"))))
        self.structs = [s for p in sorted((ROOT / "src/model").glob("*.hpp"))
                        for s in structs(p.read_text())]

    def test_every_member_is_listed(self):
        self.assertGreater(len(self.structs), 35)
        for name, members in self.structs:
            if name in NOT_RECORDED:
                continue
            self.assertIn(name, self.listed)
            self.assertGreater(len(members), 0, name)
            for member in members:
                if (name, member) not in ELSEWHERE:
                    self.assertIn(member, self.listed[name], f"{name}::{member} is not recorded")

    def test_a_member_left_out_is_seen(self):
        (name, members), = structs("struct Planted {\n  int kept = 0;\n  std::vector<int> lost;\n"
                                   "  [[nodiscard]] bool padded() const { return kept > 0; }\n};\n")
        self.assertEqual((name, members), ("Planted", ["kept", "lost"]))
        listed = listed_fields("void fields(Archive& a, model::Planted& v) {\n  a(\"kept\", v.kept);\n}\n")
        self.assertEqual(set(members) - listed["Planted"], {"lost"})


if __name__ == "__main__":
    unittest.main()
