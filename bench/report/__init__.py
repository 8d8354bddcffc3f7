"""Pages, plots and tables from records."""
