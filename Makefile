# Two commands: `make lab` opens the first notebook, `make test` runs the tests. `make help` lists the rest.
PYTHON ?= python3
VENV ?= .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PORT ?= 8888
NOTEBOOK ?= notebooks/00_first_light.ipynb

.PHONY: help lab test dev bench lint front clean

help:
	@echo "make lab    environment with the fast kernels, then JupyterLab on $(NOTEBOOK)"
	@echo "make test   environment with the test tools, then the whole suite"
	@echo "make lint   import contracts, sizes, generated files"
	@echo "make bench  steps, ops and import against torch (ratios need torch in the environment)"
	@echo "make front  rebuild the JupyterLab extension (needs node)"

$(BIN)/python:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10))" || \
	  { echo "nbtorch needs Python 3.10 or newer; $(PYTHON) is older. Try: make lab PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "venv is missing. On Debian or Ubuntu: apt install python3-venv"; exit 1; }

# The panel is copied at installation, so a newer one has to be installed again.
PANEL := nbtorch/labextension/package.json

$(VENV)/.lab: $(BIN)/python pyproject.toml $(PANEL)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[fast]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml $(PANEL)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[fast,test]"
	@touch $@ $(VENV)/.lab

lab: $(VENV)/.lab
	$(BIN)/python -m nbtorch.notebook.lab --port $(PORT) $(LAB_ARGS) $(NOTEBOOK)

test: $(VENV)/.test
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests

dev: $(VENV)/.test

lint: $(VENV)/.test
	$(BIN)/lint-imports
	$(BIN)/python .ci/size.py

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

front:
	$(BIN)/python -m nbtorch.events.schema
	cd extension && PATH="$(CURDIR)/$(BIN):$$PATH" jlpm install && PATH="$(CURDIR)/$(BIN):$$PATH" jlpm build

clean:
	rm -rf $(VENV) build dist
