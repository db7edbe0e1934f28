"""What a check found."""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Where:
    """One cache or output of one layer; `rows` are (page, slot)."""

    cache: str
    layer: int
    rows: tuple[tuple[int, int], ...]
    node: Optional[int]
    kernel: Optional[str]
    source: Optional[str]

    def __str__(self) -> str:
        shown = ", ".join(f"{page}:{slot}" for page, slot in self.rows[:4])
        more = f" and {len(self.rows) - 4} more" if len(self.rows) > 4 else ""
        rows = f" rows {shown}{more} (page:slot)" if self.rows else ""
        by = f", {self.kernel}" if self.kernel else ""
        at = f" at {self.source}" if self.source else ""
        return f"{self.cache} of layer {self.layer}{rows}{by}{at}"


@dataclass(frozen=True)
class Finding:
    """One cause. `status`: "confirmed" (undoing it alone made the rows right) or "suspected"."""

    mechanism: str
    status: str
    where: tuple[Where, ...]
    evidence: tuple[str, ...]
    experiment: str
    fix: str
    summary: str = ""

    @property
    def source(self) -> Optional[str]:
        """file:line of the caller's that the finding names, if it names one."""
        return next((place.source for place in self.where if place.source), None)

    def __str__(self) -> str:
        lines = [
            f"{self.mechanism} ({self.status})" + (f": {self.summary}" if self.summary else "")
        ]
        lines += [f"  where: {place}" for place in self.where]
        lines += [f"  evidence: {line}" for line in self.evidence]
        if self.experiment:
            lines.append(f"  experiment: {self.experiment}")
        lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)


@dataclass(frozen=True)
class RuledOut:
    mechanism: str
    why: str


@dataclass(frozen=True)
class Failure:
    """A step, the tool or the device failed; `step` is -1 where no step ran."""

    phase: str
    step: int
    what: str
    remedy: str

    def __str__(self) -> str:
        step = f" of step {self.step}" if self.step >= 0 else ""
        return f"failed in phase {self.phase}{step}: {self.what}\n  fix: {self.remedy}"


def _finding(data: dict[str, Any]) -> Finding:
    places = tuple(
        Where(
            place["cache"],
            place["layer"],
            tuple((row[0], row[1]) for row in place["rows"]),
            place["node"],
            place["kernel"],
            place["source"],
        )
        for place in data["where"]
    )
    return Finding(
        data["mechanism"],
        data["status"],
        places,
        tuple(data["evidence"]),
        data["experiment"],
        data["fix"],
        data.get("summary", ""),
    )


class Report:
    """What a check found. `print(report)` shows all of it; a notebook shows the page.

    `verdict`: "agreed", "diverged", "hazard" or "inconclusive". `exit_code`: what the command line
    would end with, 0, 1, 3 or 4. `exception`: what the step raised, if that ended the check.
    """

    def __init__(
        self,
        text_as: Callable[[str], str],
        exception: Optional[BaseException] = None,
        notes: tuple[str, ...] = (),
    ):
        self._text_as = text_as
        self._json = text_as("json")
        data = json.loads(self._json)
        case = data["cases"][0] if data["cases"] else {}
        self.verdict: str = data["verdict"]
        self.exit_code: int = data["exit_code"]
        self.device: str = data["device"]
        self.reason: str = case.get("reason", data["incomplete_reason"])
        self.findings: list[Finding] = [_finding(one) for one in case.get("findings", [])]
        self.ruled_out: list[RuledOut] = [
            RuledOut(one["mechanism"], one["why"]) for one in case.get("ruled_out", [])
        ]
        self._own_notes = notes
        self.notes: list[str] = [*case.get("notes", []), *notes]
        self.rows_compared: int = case.get("rows_compared", 0)
        self.replays: int = case.get("replays", 0)
        failure = case.get("failure")
        self.failure: Optional[Failure] = (
            Failure(failure["phase"], failure["step"], failure["what"], failure["remedy"])
            if failure
            else None
        )
        self.exception = exception if self.failure else None

    def _write(self, format: str, path: Optional[Path]) -> str:
        text = self._json if format == "json" else self._text_as(format)
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def to_html(self, path: Optional[Path] = None) -> str:
        """One self-contained page; also written to `path` where one is given."""
        return self._write("html", path)

    def to_json(self, path: Optional[Path] = None) -> str:
        """The report as docs/report.schema.json describes it; also written to `path`."""
        return self._write("json", path)

    def explain(self) -> str:
        """Verdict, findings or failure, and nothing else: what a failing test should say."""
        lines = [f"graphsan: {self.verdict}" + (f": {self.reason}" if self.reason else "")]
        if self.failure is not None:
            lines.append(str(self.failure))
        lines += [str(finding) for finding in self.findings]
        if self.verdict in ("diverged", "hazard") and not self.findings:
            lines.append("no cause was confirmed; print(report) and report.to_html() show the rows")
        lines += [f"note: {note}" for note in self._own_notes]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self._text_as("text")

    def __repr__(self) -> str:
        causes = [
            f"{f.mechanism} ({f.status})" + (f" at {f.source}" if f.source else "")
            for f in self.findings
        ]
        said = "; ".join(causes) or (self.failure.what if self.failure else self.reason)
        return f"<graphsan.Report {self.verdict}{': ' + said if said else ''}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="GraphSan report" '
            'style="width:100%;height:40em;border:1px solid #8888"></iframe>'
        )
