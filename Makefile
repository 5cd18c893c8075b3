# Every target does its own set-up: Python 3.11 or later and make are all that must be there.
#
#   make demo        solve a real problem, print its certificate, draw out/demo.png
#   make test        lint, types, tests
#   make docs        build the documentation, its examples run and drawn, into docs/_build/html
#   make lint | types | slow | uncompiled | torch | bench | clean
#
# Another Python:  make test PYTHON=python3.13

PYTHON ?= python3
export OMP_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ifeq ($(OS),Windows_NT)
BIN := Scripts
else
BIN := bin
endif
RUN := .venv/$(BIN)/python
DEMO := .demo-venv/$(BIN)/python
DOCS := .docs-venv/$(BIN)/python

.PHONY: demo test lint types tests slow uncompiled torch bench docs clean
.DEFAULT_GOAL := test

demo: .demo-venv/ready
	@$(DEMO) examples/demo.py

test: lint types tests
	@echo "saddlery: lint, types and tests are in order"

lint: .venv/ready
	@echo "saddlery: lint"
	@$(RUN) -m ruff check --quiet
	@$(RUN) -m ruff format --check --quiet || { echo "not formatted as ruff would: run .venv/$(BIN)/ruff format"; exit 1; }

types: .venv/ready
	@echo "saddlery: types"
	@$(RUN) -m mypy --no-error-summary

tests: .venv/ready
	@echo "saddlery: tests"
	@$(RUN) -m pytest -q -n 2

slow: .venv/ready
	@echo "saddlery: slow tests"
	@$(RUN) -m pytest -q -n 2 -m slow

uncompiled: export SADDLERY_COMPILE := 0
uncompiled: .venv/ready
	@echo "saddlery: tests of terms and kernels as plain Python"
	@$(RUN) -m pytest -q -n 2 tests/terms tests/kernels
	@$(RUN) -m pytest -q -n 2 tests/algorithms/test_data_convexity.py -k trajector

torch: .torch-venv/ready
	@echo "saddlery: tests with matrices of PyTorch"
	@.torch-venv/$(BIN)/python -m pytest -q tests/algorithms/test_elsewhere.py

bench: .venv/ready
	@$(RUN) benchmarks/speed.py

docs: .docs-venv/ready
	@echo "saddlery: documentation (its examples are run: some minutes)"
	@$(DOCS) -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "saddlery: open docs/_build/html/index.html"

clean:
	rm -rf .venv .demo-venv .torch-venv .docs-venv docs/_build docs/auto .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist out
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment is made once, and brought up to date when pyproject.toml changes.
.venv/ready: EXTRAS := test,dev
.demo-venv/ready: EXTRAS := plot
.torch-venv/ready: EXTRAS := test,torch
.docs-venv/ready: EXTRAS := docs
.venv/ready .demo-venv/ready .torch-venv/ready .docs-venv/ready: pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))" || \
		{ echo "saddlery needs Python 3.11 to 3.14; name one: make PYTHON=python3.13"; exit 1; }
	@echo "saddlery: installing into $(@D) (once, a minute or so)"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/$(BIN)/python -m pip install --quiet --editable ".[$(EXTRAS)]"
	@touch $@
