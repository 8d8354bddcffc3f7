"""Programs that answered one question each; their records are kept."""
