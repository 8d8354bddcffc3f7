"""The ``clgraph`` command: a module per subcommand, which makes a record and text of it."""
