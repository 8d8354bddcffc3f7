"""Commands that run an algorithm on a graph in a file."""
