"""Communities: parts of a graph with more edges within than expected, and how good they are."""
