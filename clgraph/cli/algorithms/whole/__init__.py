"""Commands that say something of a whole graph: ranks, cores, forests, colours, walks."""
