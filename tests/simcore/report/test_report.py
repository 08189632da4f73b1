from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import polars as pl
import pytest
from rich.console import Console

from simcore.report.html import html
from simcore.report.junit import junit
from simcore.report.markdown import markdown
from simcore.report.summary import Summary, build_summary
from simcore.report.tables import paired_table, policy_table, print_summary
from simcore.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.metrics import Scores


class Page(HTMLParser):
    """The text of a page; complains about elements that are not closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def plain(summary: Summary) -> str:
    out = io.StringIO()
    print_summary(Console(file=out), summary)
    return out.getvalue()


def outputs(summary: Summary) -> list[str]:
    return [
        plain(summary),
        markdown(summary).replace("\\", ""),
        Page(html(summary)).text,
        ET.tostring(ET.fromstring(junit(summary)), encoding="unicode"),
        json.dumps(summary.to_dict()),
    ]


def test_every_output_names_every_policy_gate_and_failure(summary: Summary) -> None:
    for text in outputs(summary):
        for policy in ("eou", "eager|bold", "odd"):
            assert policy in text
        assert "stale_rate" in text
        assert "policy_error" in text
        assert "bad? <value>" in text or "bad? &lt;value&gt;" in text


def test_every_rate_stands_with_its_count(summary: Summary) -> None:
    def count(scores: Scores) -> str:
        return f"{scores.stale_rate.count}/{scores.stale_rate.n}"

    terminal, *reports = outputs(summary)[:3]
    for policy in summary.policies:
        assert count(policy.scores) in terminal
        for text in reports:
            assert count(policy.scores) in text
            for slices in policy.by.values():
                assert all(count(part.scores) in text for part in slices)
    assert "16/32" in terminal


def test_piped_tables_are_aligned_and_have_no_colour(summary: Summary) -> None:
    text = plain(summary)
    assert "\x1b" not in text
    for block in (str(policy_table(summary.policies)), str(paired_table(summary.differences))):
        assert block in text
        lines = block.splitlines()[1:]
        assert max(map(len, lines)) < 100
        assert len({len(line) for line in lines}) == 1, "right-aligned lines end together"


def test_a_terminal_gets_the_same_figures(summary: Summary) -> None:
    out = io.StringIO()
    print_summary(Console(file=out, force_terminal=True, width=120), summary)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert "\x1b" in out.getvalue()
    assert shown.split() == plain(summary).split()


def test_the_page_needs_nothing_from_elsewhere(summary: Summary) -> None:
    page = html(summary)
    for foreign in ("http:", "https:", "//", "src=", "<link", "@import", "url(", "<script"):
        assert foreign not in page
    assert "tea &lt;time&gt;" in page
    assert "<time>" not in page


def test_junit_has_a_case_per_gate_and_per_kind_of_failure(summary: Summary) -> None:
    root = ET.fromstring(junit(summary))
    cases = root.findall(".//testcase")
    assert len(cases) == len(summary.gates) + 3 == 7
    failed = [case for case in cases if case.find("failure") is not None]
    assert [case.get("name") for case in failed] == ["stale_rate <= 0.05", "failures <= 0"]
    (error,) = root.findall(".//error")
    assert "4 of 32 trajectories" in (error.get("message") or "")
    assert "recording r0-stable, action book, replication 0, seed 7" in (error.text or "")
    (suite,) = root.findall("testsuite")
    assert suite.attrib == {"name": "tea <time>", "tests": "7", "failures": "2", "errors": "1"}


def test_unlabelled_and_failed_trajectories_are_told(summary: Summary) -> None:
    for text in outputs(summary)[:3]:
        assert "4 of 32 trajectories are unlabelled" in text
        assert "4 of odd's trajectories failed: policy_error (bad? <value>)" in text
    assert not summary.passed


def test_a_summary_is_the_same_for_the_same_trajectories(
    frame: pl.DataFrame, scenario: Scenario, summary: Summary
) -> None:
    again = build_summary(frame, scenario, as_given={"scenario": "tea.yaml"}, resamples=200)
    assert again.to_dict() == summary.to_dict()
    assert re.fullmatch(r"[0-9a-f]{64}", summary.scenario_hash)


@pytest.mark.parametrize("write", [plain, markdown, html, junit])
def test_a_single_policy_or_nothing_labelled_is_no_special_case(
    write: Callable[[Summary], str], frame: pl.DataFrame, scenario: Scenario
) -> None:
    bare = Scenario(scenario.name, (), (), (), seed=7)
    alone = build_summary(frame.filter(pl.col("policy") == "eou"), bare, resamples=50)
    empty = build_summary(frame.filter(pl.col("failure").is_not_null()), bare, resamples=50)
    assert "eou" in write(alone)
    assert "odd" in write(empty)
