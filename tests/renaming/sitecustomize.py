"""Children of a test session rename the processor where tests/conftest.py has done so."""

import renaming

renaming.rename_on_first_use()
