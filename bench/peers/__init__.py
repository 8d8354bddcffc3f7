"""Other libraries and programs, run beside ours on the same graphs."""
