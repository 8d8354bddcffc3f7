# The commands of README.md and those that developers use. All work from a fresh checkout with Python
# 3.11 or newer and make, and do nothing twice: an environment is rebuilt only when pyproject.toml
# changes.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Three processes for two cores, since each waits a fifth to a quarter of its time, for devices and for
# processes that tests start; they take over tests from each other. Each grows to some 2 to 4 GB.
PYTEST_ARGS ?= --numprocesses 3 --dist worksteal
# NumPy's own threads would turn beside them, waiting for work; and the processes that tests start
# would each compile the library where Python is told to keep nothing that it compiled.
export OPENBLAS_NUM_THREADS ?= 1
unexport PYTHONDONTWRITEBYTECODE
# Of each test that builds kernels `make test` runs so many cases, and `make test-rest` the others.
CASES ?= 1

# A line a step; pip shows its own progress where somebody is watching.
define pip
quiet=--quiet; if [ -t 1 ]; then quiet=; fi; \
$(BIN)/python -m pip install $$quiet --disable-pip-version-check
endef

.PHONY: help demo test test-rest test-all mutants fuzz docs clean

help:
	@echo "make demo      breadth-first search of two real graphs on the CPU"
	@echo "make test      install what the tests need and run a case of each but the longest, in minutes"
	@echo "make test-rest the other cases, so that both are the whole suite"
	@echo "make test-all  a case of each with optimised kernels, slow cases of half, and 75 mutants"
	@echo "make mutants   break the code at many places and see whether tests notice"
	@echo "make fuzz      a million damaged files of each format, interruptions everywhere: days"
	@echo "make docs      make a site of the pages and docstrings in build/site"
	@echo "make clean     remove $(VENV) and what was built"

demo: $(VENV)/.installed-demo
	@echo "searching: the first search builds its kernels for this processor, which takes seconds"
	@echo; echo "The roads of Luxembourg:"
	@$(BIN)/clgraph bfs tests/data/luxembourg-osm.mtx.xz --device pocl --repeat 5 --energy
	@echo; echo "The friendships of Hamsterster, level by level:"
	@$(BIN)/clgraph bfs tests/data/formats/soc-hamsterster.edges --device pocl --repeat 5 --levels
	@echo; echo "What to try next:"
	@echo "  $(BIN)/clgraph devices                    what else there is to run on"
	@echo "  $(BIN)/clgraph bfs FILE                   a graph of your own: mtx, edges, csv, gr, graph, ..."
	@echo "  $(BIN)/clgraph sssp tests/data/formats/rome99.gr"
	@echo "  $(BIN)/python                             import clgraph as cg; help(cg.bfs)"
	@echo "  README.md and docs/index.md               examples, and what else it can do"

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) --cases $(CASES)

# REST_ARGS may hold a limit, as .ci/run has one.
test-rest: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) --other-cases $(CASES) $(REST_ARGS)

# What the two above leave: kernels that are built as users have them, in seven times the time, in
# one case of each test that builds some; a slow case of every second test that has some; and mutants.
# Of tests marked rest, which take longest, it has every second one, too. Which tests, which slow case
# and which mutants it is changes with every commit, so that each has its turn within a few: all of
# them, and all cases optimised, take hours, with `pytest --run-slow`, `--optimised` and
# `make mutants`.
SLOW_CASES ?= 1
MUTANTS ?= 75
test-all: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS) --run-slow --cases $(CASES) --optimised-cases $(CASES) \
	    --slow-cases $(SLOW_CASES)
	$(BIN)/python tests/mutants/run.py --most $(MUTANTS)

mutants: $(VENV)/.installed-test
	$(BIN)/python tests/mutants/run.py

# FUZZ_ARGS says how much of it, see tests/fuzz/conftest.py, and FUZZ_SPREAD how it is shared among
# processes, one for each core: --seconds when to end, see tests/fuzz/spread.py. What was tried is
# added to FUZZ_LEDGER, also where Ctrl-C ends it early.
FUZZ_ARGS ?= --inputs 1000000 --interruptions 0 --moments 300 --graphs 10000 --plans 10000 --runs 100000
FUZZ_SPREAD ?= --first leiden dynamic-truss diameter dynamic betweenness cluster-components
FUZZ_LEDGER ?= build/reliability.json
fuzz: $(VENV)/.installed-test
	@mkdir -p $(dir $(FUZZ_LEDGER))
	$(BIN)/python tests/fuzz/spread.py $(FUZZ_SPREAD) --ledger $(FUZZ_LEDGER) -- tests/fuzz $(FUZZ_ARGS)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clgraph needs Python 3.11 or newer, this is %s; say for example: make PYTHON=python3.12" % sys.version.split()[0])'
	@echo "making an environment for it in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed-demo: $(VENV)/.created pyproject.toml
	@echo "installing PoCL, a driver for the processor (58 MB to download)"
	@$(pip) pocl-binary-distribution
	@echo "installing clgraph, NumPy, SciPy and PyOpenCL (52 MB; 400 MB on disk in all)"
	@$(pip) --editable ".[cpu]"
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created pyproject.toml
	@echo "installing clgraph and what its tests need into $(VENV) (1.7 GB, mostly Intel's runtime)"
	@$(pip) --editable ".[cpu,intel,test,networkx,plot]"
	@touch $@ $(VENV)/.installed-demo

# Every warning is an error, a link of a page that leads nowhere among them.
docs: $(VENV)/.installed-docs
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs . build/site
	@echo "the site begins at build/site/index.html"

$(VENV)/.installed-docs: $(VENV)/.created pyproject.toml
	@echo "installing clgraph and what the site is made with into $(VENV)"
	@$(pip) --editable ".[docs]"
	@touch $@

clean:
	rm -rf $(VENV) build dist
