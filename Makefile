# The two commands of README.md. Both work from a fresh checkout with Python 3.11 or newer and make,
# and do nothing twice: an environment is rebuilt only when pyproject.toml changes.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
DEMO_GRAPH ?= tests/data/rome99.gr
PYTEST_ARGS ?=

.PHONY: help demo test clean

help:
	@echo "make demo   breadth-first search of the road network of Rome on the CPU"
	@echo "make test   install what the tests need and run them"
	@echo "make clean  remove $(VENV) and what was built"

demo: $(VENV)/.installed-demo
	$(BIN)/clgraph bfs $(DEMO_GRAPH) --source 0 --device pocl --predecessors --repeat 5 --energy

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest $(PYTEST_ARGS)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clgraph needs Python 3.11 or newer, this is %s; say for example: make PYTHON=python3.12" % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed-demo: $(VENV)/.created pyproject.toml
	@echo "installing clgraph with PoCL into $(VENV) (some 400 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cpu]"
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created pyproject.toml
	@echo "installing clgraph and what its tests need into $(VENV) (some 2 GB, mostly Intel's runtime)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cpu,intel,test,networkx,plot]"
	@touch $@ $(VENV)/.installed-demo

clean:
	rm -rf $(VENV) build dist
