# Every target sets up what it needs. The environment is .venv in this folder.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEMO   := $(VENV)/.installed-demo
comma  := ,
CORES  := -n logical --maxprocesses 8 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help install kernels demo docs test style lint test-deep test-wheel fuzz golden bench wheels clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

define install
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "lossyfl needs Python 3.11 or newer")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable "$(1)" --constraint constraints.txt
	@touch $@
endef

SOURCES := pyproject.toml constraints.txt $(wildcard CMakeLists.txt build_backend/*.py src/lossyfl/kernels/*.[ch])

$(STAMP): $(SOURCES)
	$(call install,.[dev])
	@touch $(DEMO)

# A demo needs a third of the packages, and half of the disk.
$(DEMO): $(SOURCES)
	$(call install,.[sim$(comma)report])

install: $(STAMP)  ## Create .venv with lossyfl and everything needed to work on it

demo: $(DEMO)  ## The paper's five systems on the embedded digits, and a report
	$(BIN)/lossyfl demo

kernels: $(STAMP)  ## Build the native kernels again, after a change of their sources
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .

wheels: $(STAMP)  ## Wheels for the usual platforms into dist/, from this machine
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[wheels]" --constraint constraints.txt
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/python -m scripts.wheels

docs: $(STAMP)  ## Draw the diagrams of docs/ from the code, and build the site into build/site
	$(BIN)/python -m scripts.diagrams
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

lint: style
	$(BIN)/pyright

# Types are checked beside the tests, and heard of after them if something is wrong.
test: style  ## Lint, types, import contract and all tests
	@mkdir -p build
	@$(BIN)/pyright > build/types.txt 2>&1 & types=$$!; \
	trap "kill $$types; exit 130" INT TERM; \
	$(BIN)/pytest $(CORES); tests=$$?; \
	wait $$types || { cat build/types.txt; echo "types are wrong: see above"; exit 1; }; \
	exit $$tests

test-deep: $(STAMP)  ## The same tests with thousands of examples, the protocol's 1,000 long runs, and every crash point
	HYPOTHESIS_PROFILE=deep $(BIN)/pytest $(CORES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[wheels]" --constraint constraints.txt
	$(BIN)/python -m tests.kernels.platforms.replay
	$(BIN)/python -m tests.wheel.matrix --python $(PYTHON) --versions newest --extras ""

test-wheel: $(STAMP)  ## The built wheel on every Python here, newest and oldest versions, each extra
	$(BIN)/python -m tests.wheel.matrix

fuzz: $(STAMP)  ## A million mutated frames, a million of the format's grammar, an hour guided by coverage, 10^8 calls of kernels
	$(BIN)/python -m tests.fuzz.fuzz_decode --frames 1000000
	$(BIN)/python -m tests.fuzz.fuzz_grammar --frames 1000000
	$(BIN)/python -m tests.fuzz.guided --seconds 3600
	$(BIN)/python -m tests.kernels.fuzz --runs 100000000

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
