# The commands of README.md and those that developers use. All work from a fresh checkout with Python 3.11 or newer and make,
# and do nothing twice: an environment is rebuilt only when pyproject.toml changes.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# A process for each of two cores, which take over tests from each other.
PYTEST_ARGS ?= --numprocesses 2 --dist worksteal

.PHONY: help demo test test-all fuzz clean

help:
	@echo "make demo      breadth-first search of two real graphs on the CPU"
	@echo "make test      install what the tests need and run them, in minutes"
	@echo "make test-all  the slow tests as well, and kernels built as users have them"
	@echo "make fuzz      a million damaged files of each format, interruptions everywhere: days"
	@echo "make clean     remove $(VENV) and what was built"

demo: $(VENV)/.installed-demo
	@echo; echo "The roads of Luxembourg:"
	@$(BIN)/clgraph bfs tests/data/luxembourg-osm.mtx.xz --device pocl --repeat 5 --energy
	@echo; echo "The friendships of Hamsterster, level by level:"
	@$(BIN)/clgraph bfs tests/data/formats/soc-hamsterster.edges --device pocl --repeat 5 --levels

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-all: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) --run-slow --optimised

# FUZZ_ARGS says how much of it: see tests/fuzz/conftest.py.
FUZZ_ARGS ?= --inputs 1000000 --interruptions 0 --moments 10000 --graphs 10000 --plans 10000 --runs 100000
fuzz: $(VENV)/.installed-test
	$(BIN)/python -m pytest tests/fuzz --timeout 0 $(FUZZ_ARGS)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clgraph needs Python 3.11 or newer, this is %s; say for example: make PYTHON=python3.12" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed-demo: $(VENV)/.created pyproject.toml
	@echo "installing clgraph with PoCL into $(VENV) (some 400 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cpu]"
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created pyproject.toml
	@echo "installing clgraph and what its tests need into $(VENV) (1.7 GB, mostly Intel's runtime)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cpu,intel,test,networkx,plot]"
	@touch $@ $(VENV)/.installed-demo

clean:
	rm -rf $(VENV) build dist
