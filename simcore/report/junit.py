"""A run as JUnit XML, for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from simcore.report.summary import printable

if TYPE_CHECKING:
    from simcore.report.summary import Summary


def junit(summary: Summary) -> str:
    """A test case per gate, and per policy: its trajectories, or each way in which they failed."""
    cases: list[ET.Element] = []

    def case(policy: str, name: str, kind: str = "", message: str = "") -> None:
        owner = printable(f"{summary.scenario}.{policy}")
        element = ET.Element("testcase", classname=owner, name=printable(name))
        if kind:
            fault = ET.SubElement(element, kind, message=printable(message))
            fault.text = printable(message)
        cases.append(element)

    for gate in summary.gates:
        case(gate.policy, gate.bound, "" if gate.passed else "failure", str(gate))
    for policy in summary.policies:
        failed = [failure for failure in summary.failures if failure.policy == policy.policy]
        if not failed:
            case(policy.policy, f"{policy.scores.n} trajectories")
        for failure in failed:
            told = f"{failure.count} of {policy.scores.n} trajectories: {failure.reason}"
            where = f"{failure.example}, seed {summary.seed}"
            case(policy.policy, failure.kind, "error", f"{told}; {where}")

    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(element.find("failure") is not None for element in cases)),
        "errors": str(sum(element.find("error") is not None for element in cases)),
    }
    root = ET.Element("testsuites", name="simcore", attrib=counts)
    suite = ET.SubElement(root, "testsuite", name=printable(summary.scenario), attrib=counts)
    suite.extend(cases)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
