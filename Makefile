# Each target sets itself up: .venv from any Python 3.11-3.13, and the Debian packages it uses
# where they may be installed (else it names them).
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: demo test lint bench build clean help

BIN := .venv/bin
READY := .venv/ready
SUPPORTED := import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))

demo: $(READY) ## grade a small class from end to end and print its table of points
	@scripts/debian-packages bwrap=bubblewrap
	@$(BIN)/autograder demo

# A process a core, at most four, since tests start processes of their own. A file's tests share what they set up, so
# they stay together; files go in the order of their names, in which the longest happen to come first.
test: $(READY) ## run every test, with branch coverage
	@scripts/debian-packages bwrap=bubblewrap chromium=chromium
	@$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder \
	    --cov --cov-report=term

lint: $(READY) ## check style, format and types
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: $(READY) ## time minigrad beside its peers and print the ratios
	@$(BIN)/python -m benchmarks

build: $(READY) ## make the notebooks and the course from course/lessons and src
	@$(BIN)/autograder build

clean: ## remove .venv, build/ and caches; a course's submissions and gradebook stay
	@rm -rf .venv build .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find src autograder benchmarks scripts tests -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 14

# A stamp: made once, and again when the dependencies change, so that later runs need no network.
$(READY): pyproject.toml constraints.txt
	@python=$$(for name in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	    if $$name -c '$(SUPPORTED)' 2>/dev/null; then echo $$name; break; fi; done); \
	if [ -z "$$python" ]; then \
	    echo 'minigrad needs Python 3.11, 3.12 or 3.13 with venv (on Debian: apt install python3-venv)' >&2; exit 1; fi; \
	echo "setting up .venv with $$($$python --version); the first time takes a few minutes"; \
	test -x $(BIN)/python || $$python -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --constraint constraints.txt --editable '.[course,bench,dev]'
	@touch $@
