# Every target sets up what it needs. The environment is .venv in this folder.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CORES  := -n logical --maxprocesses 8 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help install demo docs test lint test-deep fuzz golden bench clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "lossyfl needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]" --constraint constraints.txt
	@touch $@

install: $(STAMP)  ## Create .venv with lossyfl and everything needed to work on it

demo: $(STAMP)  ## The paper's five systems on the embedded digits, and a report
	$(BIN)/lossyfl demo

docs: $(STAMP)  ## Build the site of the docs into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

test: lint  ## Lint, types, import contract and all tests
	$(BIN)/pytest $(CORES)

test-deep: $(STAMP)  ## The same tests with thousands of examples, and the protocol's 1,000 long runs
	HYPOTHESIS_PROFILE=deep $(BIN)/pytest $(CORES)

fuzz: $(STAMP)  ## Decode a million mutated frames
	$(BIN)/python tests/fuzz/fuzz_decode.py --frames 1000000

golden: $(STAMP)  ## Write the golden frames anew: only for a new frame version
	$(BIN)/python tests/golden/write.py

bench: $(STAMP)  ## Speed and size of codec, server and simulator against their peers, in one run
	$(BIN)/lossyfl bench codec
	$(BIN)/lossyfl bench quantizers
	$(BIN)/lossyfl bench server
	$(BIN)/lossyfl bench simulation
	$(BIN)/lossyfl bench flower

clean:  ## Remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
