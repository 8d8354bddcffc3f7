"""Commands that make, convert and describe files of graphs."""
