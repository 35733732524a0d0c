# The README's words. `make demo` and `make test` need nothing but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLD_PYTHON ?= python3.11 # the last that NumPy 1.23, which some peers need, has wheels for

.PHONY: demo pictures docs test lint bench-solver bench-defaults bench-peers bench-sdp bench-mining bench-scale bench-wide bench-path bench-adapter bench-negatives reproduce clean

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py

# Every display once, into output/pictures/.
pictures: $(VENV)/demo.stamp
	$(BIN)/python examples/pictures.py

# The site, into output/docs/; every example runs. Any warning is an error.
docs: $(VENV)/docs.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -d output/doctrees docs output/docs

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

bench-peers: $(VENV)/bench.stamp .venv-peers/stamp .venv-mlpack/stamp
	$(BIN)/python -m benchmarks.peers

bench-sdp: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.sdp

bench-mining: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.mining

bench-scale: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.scale

bench-wide: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.wide

bench-path: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.path

bench-adapter: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.adapter

bench-negatives: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.hard_negatives

# Every table and figure of the paper; QUICK=1: a small subset in minutes, kept apart in output/.
reproduce: $(VENV)/bench.stamp .venv-peers/stamp .venv-mlpack/stamp
	$(BIN)/python -m benchmarks.paper $(if $(QUICK),--quick)

# Peers that do not run on today's NumPy and scikit-learn, and mlpack, get environments of their own.
.venv-peers/stamp: benchmarks/peers/old.txt
	$(OLD_PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --requirement $<
	@touch $@

.venv-mlpack/stamp: benchmarks/peers/mlpack.txt
	$(PYTHON) -m venv .venv-mlpack
	.venv-mlpack/bin/python -m pip install --quiet --requirement $<
	@touch $@

# pip of Python 3.11 cannot read dependency groups, so it is upgraded first.
$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(VENV)/demo.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[plot]'
	@touch $@

$(VENV)/docs.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group docs
	@touch $@

$(VENV)/test.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group test --group lint
	@touch $@

$(VENV)/bench.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group bench
	@touch $@

clean:
	rm -rf $(VENV) .venv-peers .venv-mlpack output docs/api docs/gallery docs/sg_execution_times.rst .coverage .mypy_cache .pytest_cache .ruff_cache
