# Each target sets itself up: .venv from any Python 3.11 to 3.14, and the Debian packages it uses
# where they may be installed (else it names them).
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# Processes that tests start would compile all modules anew, each for itself.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: demo test test-all lint bench build book slides package lite clean help

BIN := .venv/bin
BOOK := .venv/book
LITE := .venv/lite
GRADING := .venv/grading
READY := .venv/ready
# Three processes, also for two cores: many tests wait for processes of their own. Threads of BLAS would only wait for each
# other. A file's tests share what they set up, so they stay together; tests/support/tiers.py puts the longest files first.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest \
	--numprocesses 3 --dist loadfile --no-loadscope-reorder
# Debian's packages are fetched while Python's are: together they take as long as the longer of the two.
TOGETHER := $(MAKE) --silent --jobs 2 $(READY) packages-of-debian

demo: $(GRADING) ## grade a small class from end to end and print its table of points
	@scripts/debian-packages bwrap=bubblewrap
	@$(BIN)/autograder demo

test: ## run the tests that find most faults: the same ones for the same files (tests/README.md)
	@$(TOGETHER)
	@$(PYTEST) --durations 20

test-all: ## run every test, with branch coverage, and go on if interrupted; or every test of TESTS=tests/...
	@$(TOGETHER)
	@$(PYTEST) --all --durations 20 $(or $(TESTS),--resume --cov --cov-append --cov-report=term)

lint: $(READY) ## check style, format, types and workflows
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/zizmor --offline --quiet .github
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml

bench: $(READY) ## time minigrad beside its peers and print the ratios
	@$(BIN)/python -m benchmarks

build: $(GRADING) ## make the notebooks and the course from course/lessons and src
	@$(BIN)/autograder build

book: $(BOOK) ## make the site build/book/html: lessons with their results, where they run in the browser, and docs
	@$(BIN)/python -m book $(if $(PYODIDE_PACKAGES),--packages '$(PYODIDE_PACKAGES)') $(if $(ADDRESS),--address '$(ADDRESS)') \
		$(if $(RELEASES),--releases '$(RELEASES)')

slides: $(BOOK) ## make build/slides, a deck for each lesson, of its headings, pictures and slips
	@$(BIN)/python -m book.slides

package: $(READY) ## build what PyPI would take into build/package, and check it
	@rm -rf build/package
	@$(BIN)/python -m build --outdir build/package >/dev/null
	@$(BIN)/python -m twine check --strict build/package/*

lite: $(LITE) ## make only the part build/lite of it, in which lessons 00 to 06b, 10 and 10b run in a browser
	@$(BIN)/python -m book.lite $(if $(PYODIDE_PACKAGES),--packages '$(PYODIDE_PACKAGES)')

packages-of-debian: # what the tests start beside Python; not a target to ask for
	@scripts/debian-packages bwrap=bubblewrap chromium=chromium pg_ctlcluster=postgresql

clean: ## remove .venv, build/ and caches; a course's submissions and gradebook stay
	@rm -rf .venv build .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find src autograder benchmarks scripts tests -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' Makefile | expand -t 14

# Stamps: each made once, and again when the dependencies change, so that later runs need no network. Who only grades
# needs neither PyTorch nor a browser.
$(GRADING): pyproject.toml constraints.txt
	@scripts/environment '.[course]'
	@touch $@

$(BOOK): pyproject.toml constraints.txt
	@scripts/environment '.[course,book,lite]'
	@touch $(LITE) $(GRADING) $@

$(LITE): pyproject.toml constraints.txt
	@scripts/environment '.[course,lite]'
	@touch $(GRADING) $@

$(READY): pyproject.toml constraints.txt
	@scripts/environment '.[course,book,lite,bench,dev,hub,examples,serve]'
	@touch $(BOOK) $(LITE) $(GRADING) $@
