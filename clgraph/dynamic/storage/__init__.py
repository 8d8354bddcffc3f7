"""Where rows of a dynamic graph lie: blocks, and which of them are free."""
