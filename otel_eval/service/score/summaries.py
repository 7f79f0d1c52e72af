"""Results for build servers and for people who read a pull request: JUnit XML, Markdown."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from otel_eval.service.tally import Tally

_MOST_FAILURES = 20


def junit_from_rows(rows: Sequence[Mapping[str, Any]], thresholds: Mapping[str, float]) -> str:
    """A test suite for each metric, a test for each conversation.

    Failed is a test with the label `fail`, or below the metric's threshold; one without a value is an error, or skipped.
    """
    suites = ElementTree.Element("testsuites", name="otel-eval")
    by_metric: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_metric[row["metric"]].append(row)
    for metric, found in by_metric.items():
        cases = [_case(row, thresholds.get(metric)) for row in found]
        counts = {kind: str(sum(c.find(tag) is not None for c in cases)) for kind, tag in _KINDS.items()}
        suite = ElementTree.SubElement(suites, "testsuite", {"name": metric, "tests": str(len(cases)), **counts})
        suite.extend(cases)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


_KINDS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _case(row: Mapping[str, Any], threshold: float | None) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=row["metric"], name=_plain(str(row["conversation"] or row["result_id"])))
    if row["outcome"] == "skipped":
        ElementTree.SubElement(case, "skipped", message=_plain(f"{row['reason']}: {row['detail']}"))
    elif row["outcome"] == "failed":
        ElementTree.SubElement(case, "error", type=row["error_type"], message=_plain(row["detail"]))
    elif row["label"] == "fail" or (threshold is not None and row["value"] < threshold):
        message = f"{row['value']:g}: {row['explanation'] or 'below the threshold'}"
        ElementTree.SubElement(case, "failure", type="score", message=_plain(message))
    return case


def _plain(text: str) -> str:
    """The text without characters that XML has no place for."""
    return "".join(c if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff") else "\ufffd" for c in text)


def markdown_from_rows(rows: Sequence[Mapping[str, Any]], tally: Tally) -> str:
    """A table of the metrics, and the conversations that failed."""
    lines = ["# otel-eval", "", "| metric | mean | 95 % interval | scored | skipped | failed |", "| --- | --- | --- | --- | --- | --- |"]
    for name, found in tally.metrics.items():
        mean = "–" if found.mean is None else f"{found.mean:.3f}"
        interval = "–" if found.interval is None else "{:.3f} to {:.3f}".format(*found.interval)
        cells = (name, mean, interval, len(found.values), _reasons(found.skipped), _reasons(found.failed))
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    failing = [row for row in rows if row.get("label") == "fail"]
    if failing:
        lines += ["", "## Failed", "", *(_item(row) for row in failing[:_MOST_FAILURES])]
    if len(failing) > _MOST_FAILURES:
        lines.append(f"- and {len(failing) - _MOST_FAILURES} more")
    return "\n".join(lines) + "\n"


def _reasons(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return f"{total} ({', '.join(f'{reason} {n}' for reason, n in counts.items())})" if total else "0"


def _item(row: Mapping[str, Any]) -> str:
    evidence = ", ".join(str(place["message"]) for place in row["evidence"])
    reason = _escaped(" ".join((row["explanation"] or "").split()))
    return f"- `{_escaped(str(row['conversation']))}` {row['metric']}: {reason}" + (f" (messages {evidence})" if evidence else "")


def _escaped(text: str) -> str:
    """Words of a conversation in Markdown: no tag, no link, no code span of theirs takes effect."""
    for char in "\\`*_[]<>|":
        text = text.replace(char, f"\\{char}")
    return text
