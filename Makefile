# Each target sets up what it needs under .venv by itself; nothing else is touched.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: check check-all test lint proof proved bench dist docs schemas tables refresh clean
.DEFAULT_GOAL := check

check: .venv/run.stamp  ## the main job: both schemes of the paper against its 238 tests, held to what is expected
	$(BIN)/rspverify check --no-cache litmus/rsp
	@echo "make check-all runs every suite below litmus"

check-all: CACHE = --no-cache
check-all: .venv/run.stamp  ## every suite below litmus, held to what is expected of it; CACHE= keeps the answers
	$(BIN)/rspverify check $(CACHE) litmus

test: .venv/test.stamp  ## the test suite, import contracts included
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: .venv/lint.stamp  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy rspverify

proof:  ## Thm. 1 in Rocq, where coqc is (Debian: apt-get install coq), and the tests that need all of it
	@if command -v coqc >/dev/null; then $(MAKE) --no-print-directory proved; else echo "make proof: skipped, as there is no coqc"; fi

proved: .venv/test.stamp
	@$(MAKE) --no-print-directory -C proof
	$(BIN)/python -m pytest -n auto -m whole_proof tests/proof

bench: .venv/bench.stamp  ## speed, as ratios side by side in one run; ARGS=--keep puts it into docs/performance.md
	$(BIN)/python -m bench $(ARGS)

docs: .venv/docs.stamp  ## the documentation as a site, in the folder site, with the gallery of counterexamples; a warning is an error
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(BIN)/rspverify report --site site/gallery --broken litmus/rsp litmus/all-orders litmus/devices litmus/models litmus/amdgpu litmus/barrier/compiled
	@echo "made the folder site; to read it: $(BIN)/python -m http.server --directory site 8000"

schemas: .venv/run.stamp  ## the JSON Schemas that are shipped, from the types of the answers
	$(BIN)/python -m rspverify.render.schemas

refresh: .venv/run.stamp  ## write what this version says to the expected.yaml of every suite
	$(BIN)/rspverify check --refresh --no-cache litmus

tables: .venv/test.stamp  ## the tables of the grammars, to be made anew when a .lark file changes
	$(BIN)/python -m rspverify.grammar $$(find rspverify -name '*.lark')

dist: .venv/dist.stamp  ## the wheel and the source distribution, tried out of an empty folder
	rm -rf build dist
	$(BIN)/python -m build --outdir dist
	PYTHON=$(PYTHON) .ci/installed dist

clean:
	rm -rf .venv site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; name it with make PYTHON=…"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run.stamp: .venv/bin/python pyproject.toml
	$(PIP) --editable .
	@$(BIN)/python -m compileall -q rspverify
	@touch $@

.venv/test.stamp: .venv/run.stamp
	$(PIP) --editable '.[test]'
	@touch $@

.venv/bench.stamp: .venv/run.stamp
	$(PIP) --editable '.[bench]'
	@touch $@

.venv/dist.stamp: .venv/run.stamp
	$(PIP) --editable '.[dist]'
	@touch $@

.venv/docs.stamp: .venv/run.stamp
	$(PIP) --editable '.[docs]'
	@touch $@

.venv/lint.stamp: .venv/run.stamp
	$(PIP) --editable '.[lint]'
	@touch $@
