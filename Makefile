# The README's words. `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench-solver bench-defaults clean

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py

test: $(VENV)/test.stamp lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --cov --cov-report=term

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench-solver: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.solver

bench-defaults: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.defaults

# pip of Python 3.11 cannot read dependency groups, so it is upgraded first.
$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(VENV)/demo.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[plot]'
	@touch $@

$(VENV)/test.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group test --group lint
	@touch $@

$(VENV)/bench.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group bench
	@touch $@

clean:
	rm -rf $(VENV) output .coverage .mypy_cache .pytest_cache .ruff_cache
