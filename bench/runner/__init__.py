"""Running cases, and what is run: problems, graphs, suites, records."""
