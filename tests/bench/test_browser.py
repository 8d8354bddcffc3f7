"""The report in a real browser: laid out, measured and looked at. Skipped where there is none.

test_pages.py checks the same page's structure everywhere; here a browser says where things are.
"""

import json
import shutil
import subprocess

import numpy as np
import pytest
from made_up import case, record, skipped

from bench.report import html

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SWITCHES = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--mute-audio"),
    *("--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"),
    "--force-device-scale-factor=1",
)
SIDES = 1300, 2600

# Runs in a copy of the page: the page itself has no scripts.
MEASURE = """<script>addEventListener("load", () => {
const box = e => {
  const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
const all = (where, what) => [...where.querySelectorAll(what)];
const plots = all(document, "svg").map(svg => ({
  title: svg.querySelector("title").textContent, box: box(svg), drawn: all(svg, "*").length,
  texts: all(svg, "text").map(e => ({ text: e.textContent, box: box(e) })),
  dots: all(svg, "circle").map(e => ({ box: box(e), fill: getComputedStyle(e).fill })),
  lines: all(svg, ".line path, .whisker path").map(
    e => ({ box: box(e), stroke: getComputedStyle(e).stroke })),
}));
const style = getComputedStyle(document.body);
const found = { plots, width: innerWidth, scroll: document.documentElement.scrollWidth,
  tables: all(document, "table").map(e => e.rows.length), ink: style.color,
  paper: style.backgroundColor, dark: matchMedia("(prefers-color-scheme: dark)").matches,
  height: document.documentElement.scrollHeight };
const told = document.createElement("pre");
told.id = "measured"; told.textContent = JSON.stringify(found); document.body.append(told);
});</script>"""


def report() -> str:
    """Give a page with each plot there is, presets side by side, and two algorithms."""
    graphs = ("kron20", "road", "a-graph-with-a-rather-long-name")
    cases = [
        case(
            name,
            [0.1 * (place + 1) * (1 + 2 * turn), 0.14 * (place + 1)],
            preset=preset,
            key=f"bfs/{name}/{preset}",
        )
        for place, name in enumerate(graphs)
        for turn, preset in enumerate(("auto", "helix", "enterprise"))
    ]
    relaxing = case("road", [5.0, 6.0], algorithm="sssp", key="sssp/road/auto", per_level=None)
    return html.page([record(*cases, relaxing, skipped("mesh"))])


@pytest.fixture(scope="module")
def browser():
    found = next((shutil.which(name) for name in BROWSERS if shutil.which(name)), None)
    if found is None:
        pytest.skip(f"no browser to look with: none of {', '.join(BROWSERS)} is installed")
    asked = subprocess.run([found, "--version"], capture_output=True, check=False, timeout=60)
    if asked.returncode:  # Ubuntu's is a script that asks for snap
        pytest.skip(f"{found} does not start: {asked.stderr.decode()[:200]}")
    return found


def look(browser, folder, *switches):
    """Run the browser on the page with the script in it; give what it prints."""
    page = folder / "report.html"
    page.write_text(report().replace("</body>", MEASURE + "</body>"))
    done = subprocess.run(
        [browser, *SWITCHES, f"--user-data-dir={folder / 'profile'}", *switches, page.as_uri()],
        capture_output=True,
        check=True,
        timeout=120,
    )
    return done.stdout.decode()


def measured(browser, folder, width, *switches):
    dumped = look(browser, folder, "--dump-dom", f"--window-size={width},900", *switches)
    told = dumped.partition('<pre id="measured">')[2].partition("</pre>")[0]
    return json.loads(told.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@pytest.fixture(scope="module", params=["wide-light", "narrow-dark"])
def layout(browser, tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("layout")
    if request.param == "wide-light":
        return measured(browser, folder, SIDES[0])
    found = measured(browser, folder, 600, "--force-dark-mode")
    assert found["dark"]
    return found


def test_the_page_is_laid_out_with_every_plot(layout):
    titles = [plot["title"] for plot in layout["plots"]]
    for words in ("Throughput by preset", "Roofline", "Time against energy", "bfs road helix"):
        assert any(words in title for title in titles), words
    assert len(titles) == 2 * 3 + 9
    assert layout["tables"] == [5, 11, 2, 21]  # facts, two algorithms, peers; each with its head
    for plot in layout["plots"]:
        left, top, right, bottom = plot["box"]
        assert right - left > 250
        assert bottom - top > 40


def test_nothing_reaches_beyond_the_page_or_its_plot(layout):
    assert layout["scroll"] <= layout["width"]
    for plot in layout["plots"]:
        for thing in (*plot["texts"], *plot["dots"], *plot["lines"]):
            left, top, right, bottom = thing["box"]
            assert left >= plot["box"][0] - 1, (plot["title"], thing)
            assert top >= plot["box"][1] - 1, (plot["title"], thing)
            assert right <= plot["box"][2] + 1, (plot["title"], thing)
            assert bottom <= plot["box"][3] + 1, (plot["title"], thing)


def test_words_of_a_plot_do_not_cover_each_other(layout):
    for plot in layout["plots"]:
        texts = plot["texts"]
        for place, one in enumerate(texts):
            for other in texts[place + 1 :]:
                assert not overlap(one["box"], other["box"]), (plot["title"], one, other)


def overlap(one, other):
    """Whether boxes share more than two pixels both ways: boxes of words have some air."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide > 2 and high > 2


def test_presets_have_colours_that_differ_from_each_other_and_the_paper(layout):
    energy = next(p for p in layout["plots"] if p["title"].startswith("Time against energy"))
    fills = {dot["fill"] for dot in energy["dots"]}
    assert len(fills) == 3
    paper = colour(layout["paper"])
    assert all(contrast(colour(fill), paper) > 3 for fill in fills)
    assert contrast(colour(layout["ink"]), paper) > 7
    for plot in layout["plots"]:
        for line in plot["lines"]:
            assert line["stroke"].startswith("rgb"), (plot["title"], line)


def colour(told):
    return np.array(told.partition("(")[2].rstrip(")").split(",")[:3], float)


def contrast(one, other):
    """Contrast ratio of the Web Content Accessibility Guidelines."""

    def light(rgb):
        part = rgb / 255
        linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_picture_shows_what_was_laid_out(browser, tmp_path):
    """Dots have their colours in the picture, plots are not empty, margins are."""
    image = pytest.importorskip("PIL.Image", reason="Pillow, which matplotlib brings, is missing")
    layout = measured(browser, tmp_path, SIDES[0])
    shot = tmp_path / "shot.png"
    look(browser, tmp_path, f"--screenshot={shot}", f"--window-size={SIDES[0]},{SIDES[1]}")
    with image.open(shot) as picture:
        pixels = np.asarray(picture.convert("RGB"), np.int16)
    assert pixels.shape[:2] == SIDES[::-1]
    paper = colour(layout["paper"])
    inked = np.abs(pixels - paper).sum(axis=2) > 60
    assert not inked[:, :4].any()
    for plot in layout["plots"]:
        left, top, right, bottom = (round(edge) for edge in plot["box"])
        if bottom >= SIDES[1]:
            continue
        share = inked[top:bottom, left:right].mean()
        assert 0.002 < share < 0.5, (plot["title"], share)
        for dot in plot["dots"]:
            x, y = ((dot["box"][place] + dot["box"][place + 2]) / 2 for place in (0, 1))
            around = pixels[int(y) - 2 : int(y) + 3, int(x) - 2 : int(x) + 3].reshape(-1, 3)
            nearest = np.abs(around - colour(dot["fill"])).sum(axis=1).min()
            covered = sum(overlap(dot["box"], other["box"]) for other in plot["dots"]) > 1
            assert nearest < 30 or covered, (plot["title"], dot)
