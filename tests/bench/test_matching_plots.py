"""The plots of matching show what the record says, and nothing else."""

import re
import statistics

from bench.report import docs, matching_plots
from bench.report.text import figure


def hints(drawn):
    """Give the hints of the dots."""
    return re.findall(r"<title>(?!Matching)([^<]*)</title>", drawn)


def made_up(what, **field):
    sizes = {"size": 16, "n": 9633, "labels": 32, "k": 1000} | field
    scale = next(iter(field.values()))
    return sizes | {
        "what": what,
        "network": "human",
        "median_ms": 2.0 * scale,
        "kernel_ms": [1.0 * scale, 7.0 * scale, 0.5 * scale],
        "joules": {"per_run": 0.25 * scale},
    }


def test_a_dot_is_a_case_of_its_series():
    fields = [("query size", "size"), ("target", "n"), ("labels", "labels"), ("k", "k")]
    cases = [made_up(what, **{field: value}) for what, field in fields for value in (40, 20)]
    cases.append(made_up("bar-64", size=64) | {"what": "bar-64"})
    drawn = matching_plots.plots({"cases": cases})
    assert list(drawn) == [what for what, _ in fields]
    for what, _ in fields:
        found = hints(drawn[what])
        assert len(found) == 2 * len(matching_plots.LINES)
        axis = matching_plots.SERIES[what][1]
        for value in (20, 40):
            wanted = zip(matching_plots.LINES, (2.0, 1.0, 0.25), strict=True)
            assert {f"human, {value} {axis}: {line} {figure(f * value)}" for line, f in wanted} <= {
                *found
            }


def test_the_plots_of_the_page_show_every_case_of_the_newest_record():
    record = matching_plots.recorded(docs.RESULTS)
    page = docs.PAGE.with_name("matching.md").read_text("utf-8")
    for what, (field, _) in matching_plots.SERIES.items():
        name = f"matching-{what.replace(' ', '-')}.svg"
        assert f"]({name})" in page
        found = hints(docs.PAGE.with_name(name).read_text("utf-8"))
        cases = [case for case in record["cases"] if case["what"] == what]
        assert len(found) == 3 * len(cases) >= 9
        for case in cases:
            about = f"{case['network']}, {case[field]:,} "
            shown = {hint.rpartition(" ")[2] for hint in found if hint.startswith(about)}
            middle = statistics.median(case["kernel_ms"])
            assert {*map(figure, (case["median_ms"], middle, case["joules"]["per_run"]))} <= shown
