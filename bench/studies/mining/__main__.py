"""``python -m bench.studies.mining``."""

from . import main

if __name__ == "__main__":
    main()
