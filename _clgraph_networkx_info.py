"""What networkx reads of clgraph whenever anybody imports networkx.

It is imported while networkx is half imported, also where no dependency of clgraph is installed: so
it imports nothing, and lies outside of the package, whose import takes a while. A test compares the
names with those that the backend serves.
"""

FUNCTIONS = ()


def get_info():
    """Tell networkx what the backend is called, serves and can be configured with."""
    pages = "https://networkx.org/documentation/stable/reference/backends.html"
    return {
        "backend_name": "clgraph",
        "project": "clgraph",
        "package": "clgraph",
        "url": pages,
        "short_summary": "Graph algorithms on GPUs and other OpenCL devices.",
        "default_config": {"device": "auto"},
        "functions": {name: {} for name in FUNCTIONS},
    }
