"""What the profiler and the microbenchmarks say, against what is measured."""
