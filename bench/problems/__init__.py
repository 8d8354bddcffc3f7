"""What is measured: a module for each kind of case."""
