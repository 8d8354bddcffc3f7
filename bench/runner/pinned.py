"""The graphs of the suites as data: generators with arguments and seed, files with checksums.

Real graphs are looked for in the folder that ``--data`` names, and fetched where ``--download``
allows it. Each graph of a paper that is not in a public collection, or that a machine does not
have, has a stand-in: a graph of the same kind that is measured instead, under its own name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GRAPHS", "SEED", "SELF_TUNING", "Pinned"]

SEED = 12345
SNAP = "https://snap.stanford.edu/data/"
DIMACS9 = "http://www.diag.uniroma1.it/challenge9/data/USA-road-d/USA-road-d."
SUITESPARSE = "https://suitesparse-collection-website.herokuapp.com/MM/"

# Where graphs come from, as records and docs name it.
MERRILL = "Merrill 2012"
ENTERPRISE = "Liu 2015"
SEARCHES = "McLaughlin 2015"
SELF_TUNING = "Karamati 2018"
THESIS = "Busato 2018"


@dataclass(frozen=True, slots=True)
class Pinned:
    """A graph by name.

    Attributes
    ----------
    generator : str or None
        Function of :mod:`clgraph.generate`; None for a graph that must be given as a file.
    arguments : tuple
        What it is called with, besides the seed.
    spec : str
        What the outside generator calls the graph.
    checksums : mapping
        `graphs.checksum` by origin ("bcsr", "generated", "file"), where it is known.
    url : str
        Where the file can be had.
    member : str
        Its name in the archive, if `url` is one.
    directed : bool or None
        How its file is to be read, if not as it says itself.
    papers : tuple of str
        Which papers use it.
    stand_in : str
        Name of a graph of the same kind, for where this one cannot be had.
    """

    generator: str | None = None
    arguments: tuple[int, ...] = ()
    spec: str = ""
    checksums: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    member: str = ""
    directed: bool | None = None
    papers: tuple[str, ...] = ()
    stand_in: str = ""


def _real(
    found: str, url: str = "", *, directed: bool | None = None, stand_in: str = "", papers: str = ""
) -> Pinned:
    """Pin a real graph whose checksum is known."""
    used = (papers,) if papers else ()
    checksums = {"file": found}
    return Pinned(checksums=checksums, url=url, directed=directed, stand_in=stand_in, papers=used)


def _matrix(place: str, stand_in: str, *papers: str) -> Pinned:
    """Name a matrix of the SuiteSparse collection, whose checksum nobody has recorded yet."""
    name = place.rpartition("/")[2]
    return Pinned(
        url=f"{SUITESPARSE}{place}.tar.gz",
        member=f"{name}/{name}.mtx",
        stand_in=stand_in,
        papers=papers,
    )


def _lost(stand_in: str, *papers: str) -> Pinned:
    """Name a graph that its paper does not make public."""
    return Pinned(stand_in=stand_in, papers=papers)


GRAPHS: dict[str, Pinned] = {
    # generated here, small
    "kron16": Pinned("kron", (16, 16), "kron:16,16", {"generated": "74a09d10f507bda5"}),
    "unif17": Pinned("random", (1 << 17, 32), "unif:131072,32", {"generated": "8fbd061345145288"}),
    "rgg16": Pinned("geometric", (1 << 16,), "rgg:65536", {"generated": "97aefaf065e9e537"}),
    "grid500": Pinned("grid2d", (500, 500), "grid2d:500,500", {"generated": "a141874e3e93fa7c"}),
    "road500": Pinned("road", (500, 500), "road:500,500", {"generated": "e1eba4c1f6cab3e0"}),
    "rmat14": Pinned("rmat", (14, 8)),
    # generated here, of a size for processors
    "kron18": Pinned("kron", (18, 16), "kron:18,16", {"generated": "ac74861b814c357c"}),
    "rgg18": Pinned("geometric", (1 << 18,), "rgg:262144", {"generated": "34c23c94875e704b"}),
    "grid1000": Pinned(
        "grid2d", (1000, 1000), "grid2d:1000,1000", {"generated": "951b0afa642fb6af"}
    ),
    "road1000": Pinned("road", (1000, 1000), "road:1000,1000", {"generated": "9a9a243ac42d967c"}),
    # generated outside; other codes were measured on these very graphs
    "kron20": Pinned("kron", (20, 16), "kron:20,16", {"bcsr": "daaf0cbefadf3daa"}),
    "kron22": Pinned("kron", (22, 16), "kron:22,16", {"bcsr": "856c55af28f72065"}),
    "kron20x64": Pinned("kron", (20, 64), "kron:20,64", {"bcsr": "028f1dbddecde872"}),
    "unif22": Pinned("random", (1 << 22, 32), "unif:4194304,32", {"bcsr": "1407d7877452c122"}),
    "rgg": Pinned("geometric", (1 << 20,), "rgg:1048576", {"bcsr": "a8e0e59ee1a1e0a4"}),
    "mesh": Pinned(None, (), "mesh:1500,1500", {"bcsr": "e1a170a6897a6ea4"}),
    "grid3d": Pinned("grid3d", (160, 160, 160), "grid3d:160,160,160", {"bcsr": "3de14a0d4c9b3d8d"}),
    "grid2d": Pinned("grid2d", (2000, 2000), "grid2d:2000,2000", {"bcsr": "29171075513ddff3"}),
    "road": Pinned("road", (2000, 2000), "road:2000,2000", {"bcsr": "3f6b9a8f66c78e81"}),
    "plaw20": Pinned(None, (), "plaw:20", {"bcsr": "d18e5e7ea1d9b222"}, stand_in="rmat14"),
    "dgrid": Pinned(None, (), "dgrid:1000,1000", {"bcsr": "889014380212f186"}),
    # generated ones of the papers, with the papers' parameters
    "rmat.2Mv.128Me": Pinned(
        "rmat", (21, 64), "rmat:21,32", papers=(MERRILL, THESIS), stand_in="kron22"
    ),
    "random.2Mv.128Me": Pinned(
        "random", (1 << 21, 64), "unif:2097152,64", papers=(MERRILL, THESIS), stand_in="unif22"
    ),
    "grid5pt.5000": Pinned("grid2d", (5000, 5000), "grid2d:5000,5000", papers=(MERRILL,)),
    "grid7pt.300": Pinned("grid3d", (300, 300, 300), "grid3d:300,300,300", papers=(MERRILL,)),
    # real, with checksums
    "usa-road-d-ny": _real(
        "beecceb8d22e7576", DIMACS9 + "NY.gr.gz", directed=False, stand_in="road", papers=THESIS
    ),
    "usa-road-bay": _real("d1ed4304c61ab3ea", stand_in="road"),
    "usa-road-col": _real("8b2420e2d3713d16", stand_in="road"),
    "usa-road-fla": _real("8b1c52184685825b", stand_in="road"),
    "usa-road-nw": _real("fa6bc1de0af48e24", stand_in="road"),
    "soc-slashdot0902": _real(
        "58c05652dfa12a55", SNAP + "soc-Slashdot0902.txt.gz", stand_in="kron20", papers=THESIS
    ),
    "web-notredame": _real(
        "549ee315457193c6", SNAP + "web-NotreDame.txt.gz", stand_in="kron20", papers=THESIS
    ),
    "luxembourg-osm": _real("f04e1a29d4b66b90", stand_in="road"),
    "delaunay-n16": _real("8c97c8a01b67ef49", stand_in="mesh"),
    "dblp-2010": _real("08bea527ce3aad25", stand_in="kron20"),
    "email-enron": _real("c929553f8442dd3b", SNAP + "email-Enron.txt.gz", directed=False),
    "cit-hepph": _real("aeef91655d53e997", SNAP + "cit-HepPh.txt.gz"),
    "as-caida20071105": _real("0187a50373f4513e"),
    "ego-facebook": _real("8affae358b0f7e95", SNAP + "facebook_combined.txt.gz", directed=False),
    # of the papers, in public collections
    "europe-osm": _matrix("DIMACS10/europe_osm", "road", MERRILL, ENTERPRISE, THESIS),
    "asia-osm": _matrix("DIMACS10/asia_osm", "road", THESIS),
    "road-ca": _matrix("SNAP/roadNet-CA", "usa-road-nw", ENTERPRISE, SEARCHES, THESIS),
    "usa-road-d-usa": Pinned(
        url=DIMACS9 + "USA.gr.gz", directed=False, stand_in="road", papers=(THESIS,)
    ),
    "usa-road-d-cal": Pinned(
        url=DIMACS9 + "CAL.gr.gz", directed=False, stand_in="usa-road-nw", papers=(SELF_TUNING,)
    ),
    "hugebubbles-00020": _matrix("DIMACS10/hugebubbles-00020", "mesh", MERRILL, THESIS),
    "rgg-n-2-21": _matrix("DIMACS10/rgg_n_2_21_s0", "rgg", SEARCHES),
    "rgg-n-2-23": _matrix("DIMACS10/rgg_n_2_23_s0", "rgg", THESIS),
    "delaunay-n21": _matrix("DIMACS10/delaunay_n21", "mesh", SEARCHES),
    "delaunay-n24": _matrix("DIMACS10/delaunay_n24", "mesh", THESIS),
    "channel-500x100x100": _matrix("DIMACS10/channel-500x100x100-b050", "grid3d", THESIS),
    "nlpkkt160": _matrix("Schenk/nlpkkt160", "grid3d", MERRILL, THESIS),
    "kkt-power": _matrix("Zaoui/kkt_power", "grid3d", MERRILL, THESIS),
    "ldoor": _matrix("GHS_psdef/ldoor", "grid3d", SEARCHES, THESIS),
    "audikw-1": _matrix("GHS_psdef/audikw_1", "grid3d", MERRILL, ENTERPRISE, THESIS),
    "thermal2": _matrix("Schmid/thermal2", "mesh", SEARCHES),
    "cage15": _matrix("vanHeukelum/cage15", "unif22", MERRILL, THESIS),
    "circuit5m": _matrix("Freescale/circuit5M", "kron22", THESIS),
    "fullchip": _matrix("Freescale/FullChip", "kron20", THESIS),
    "copapers-citeseer": _matrix("DIMACS10/coPapersCiteseer", "kron20x64", MERRILL, THESIS),
    "hollywood-2009": _matrix("LAW/hollywood-2009", "kron20x64", ENTERPRISE, SEARCHES, THESIS),
    "indochina-2004": _matrix("LAW/indochina-2004", "web-notredame", THESIS),
    "kron-g500-logn19": _matrix("DIMACS10/kron_g500-logn19", "kron20x64", SEARCHES),
    "kron-g500-logn20": _matrix("DIMACS10/kron_g500-logn20", "kron20x64", MERRILL, THESIS),
    "kron-g500-logn21": _matrix("DIMACS10/kron_g500-logn21", "kron20x64", THESIS),
    "wikipedia-20051105": _matrix("Gleich/wikipedia-20051105", "kron20", SELF_TUNING),
    "wikipedia-20070206": _matrix("Gleich/wikipedia-20070206", "kron20", MERRILL, ENTERPRISE),
    "as-skitter": _matrix("SNAP/as-Skitter", "kron20", SEARCHES, THESIS),
    "soc-livejournal1": _matrix("SNAP/soc-LiveJournal1", "kron22", ENTERPRISE, THESIS),
    "soc-pokec": _matrix("SNAP/soc-Pokec", "kron20", ENTERPRISE, THESIS),
    "com-orkut": _matrix("SNAP/com-Orkut", "kron22", ENTERPRISE),
    "com-youtube": _matrix("SNAP/com-Youtube", "kron20", ENTERPRISE, THESIS),
    "loc-gowalla": _matrix("SNAP/loc-Gowalla", "kron16", ENTERPRISE),
    "wiki-talk": _matrix("SNAP/wiki-Talk", "kron20", ENTERPRISE, THESIS),
    "web-google": _matrix("SNAP/web-Google", "web-notredame", THESIS),
    "amazon0505": _matrix("SNAP/amazon0505", "unif17", THESIS),
    # of the papers, never published
    "facebook-sample": _lost("kron22", ENTERPRISE),
    "friendster-sample": _lost("kron22", ENTERPRISE),
    "twitter-sample": _lost("kron22", ENTERPRISE),
    "er-fact1.5-scale23": _lost("unif22", THESIS),
    "gen-forestfire": _lost("kron20", THESIS),
    "gen-smallworld": _lost("unif22", THESIS),
    # of Enterprise, a billion edges each: to be given as files of the outside generator
    "kron20x512": Pinned(None, (), "kron:20,512", papers=(ENTERPRISE,), stand_in="kron20x64"),
    "kron24x32": Pinned(None, (), "kron:24,32", papers=(ENTERPRISE,), stand_in="kron22"),
}
