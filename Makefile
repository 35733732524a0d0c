# The README's words. `make demo` and `make test` need nothing but Python 3.11 or newer.
VENV := .venv
# On Windows a POSIX shell must be on the path, such as that of Git for Windows.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
SCRIPTS := Scripts
else
PYTHON ?= python3
SCRIPTS := bin
endif
BIN := $(VENV)/$(SCRIPTS)
# The oldest Python that we support: the lowest versions of our dependencies have wheels for it. It is
# also the last with wheels of NumPy 1.23, which some peers in the benchmarks need.
OLD_PYTHON ?= python3.11

# LOCK=.ci/requirements.txt installs the versions of that file, checked by their hashes, and nothing
# else: so do the workflows. Without it pip chooses the newest versions that pyproject.toml allows.
LOCK ?=
ifeq ($(LOCK),)
install = $(BIN)/python -m pip install --quiet $(1)
else
# No build isolation, which would download what builds the package without a look at hashes.
install = $(BIN)/python -m pip install --quiet --require-hashes --only-binary :all: --requirement $(LOCK) \
	&& $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
endif

.PHONY: demo pictures docs test test-fast test-hard lint bench-solver bench-defaults bench-search bench-rules bench-mnist bench-peers bench-sdp bench-mining bench-scale bench-wide bench-path bench-adapter bench-negatives reproduce clean test-oldest test-wheel test-sdist build bench-regression bench-smoke bench-outofcore bench-cluster test-page bench-ask bench-load fuzz soak soak-cluster audit lock

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/demo.py

# Every display once, into output/pictures/.
pictures: $(VENV)/demo.stamp
	$(BIN)/python examples/pictures.py

# The site, into output/docs/; every example runs. Any warning is an error.
docs: $(VENV)/docs.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -d output/doctrees docs output/docs

test: $(VENV)/test.stamp lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not hard"

# Kills, full disks, processes, every benchmark on a few rows: what `make test` has no time for.
test-hard: $(VENV)/test.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -m hard tests

# The daily loop: every room in well under a minute; no linters, no doctests, no coverage.
test-fast: $(VENV)/test.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not slow" tests

# Damaged files for every reader and odd command lines: ten minutes or a million inputs for each.
# FUZZ: options, such as FUZZ="--seconds 60 --reader npz". Linux alone.
fuzz: $(VENV)/test.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.fuzz $(FUZZ)

# What makes a release trustworthy, by hand: an hour or more. Nothing may grow, no certificate may be
# wrong, no kill may lose a file, ten thousand drawn problems must hold.
SECONDS_OF_SOAK ?= 600
soak: $(VENV)/test.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.soak --seconds $(SECONDS_OF_SOAK)
	OPENBLAS_NUM_THREADS=1 SDPMETRIC_EXAMPLES=21 $(BIN)/python -m pytest -q -n auto tests/properties/test_hypothesis_*.py
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.certificates --problems 10000
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.crashes --kills 100 --steps 1
	@# 77: this system lets us mount no small disk that could be full.
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.disks || test $$? -eq 77
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.interrupts --count 500

# Fits on a cluster and fits with checkpoints, whose processes are killed at random moments.
soak-cluster: $(VENV)/test.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.resume --kills 100
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaigns.cluster --times 10 --kills 10

# Known vulnerabilities of all packages in the lock files; exit code 2 if no database is reached.
audit: $(VENV)/audit.stamp
	$(BIN)/python .ci/audit.py $(wildcard .ci/requirements*.txt)

# New versions and hashes for the workflows; commit what changes.
COMPILE = $(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-header --no-annotate \
	--only-binary :all: --python-version 3.11
lock: $(VENV)/release.stamp
	$(COMPILE) --universal pyproject.toml --all-extras --output-file .ci/requirements.txt \
		--group test --group lint --group docs --group release --group audit --group build
	$(COMPILE) --resolution lowest-direct --python-platform linux pyproject.toml --all-extras \
		--output-file .ci/requirements-oldest.txt --group test --group build
	$(COMPILE) --universal --group publish --output-file .ci/requirements-publish.txt

# The page of `sdpmetric ask` in a real browser; axe-core, which looks for barriers, needs npm.
test-page: $(VENV)/test.stamp
	@if command -v npm > /dev/null; then \
		npm install --silent --no-save --no-audit --no-fund --prefix output axe-core@4; \
	else echo "npm is missing: tests with axe-core are skipped."; fi
	SDPMETRIC_PAGE=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/page

# The tests with the lowest versions of all dependencies that pyproject.toml allows; the hard ones
# need the machine for themselves and are left to `make test-hard`. Coverage is counted here: it
# makes tests take half as long again, and `make test` should take less than ten minutes. Child
# processes are not counted (pytest-cov before 7 does, and fails where one runs in another folder).
test-oldest: $(VENV)-oldest/stamp
	OPENBLAS_NUM_THREADS=1 $(VENV)-oldest/$(SCRIPTS)/python -m pytest -n auto -m "not hard" \
		--cov --cov-report=term

# The wheel, alone in an empty environment, used from another folder.
test-wheel: build
	$(BIN)/python .ci/packages.py wheel output/dist

# The tests that the sdist holds, run where it is unpacked; slow tests are left to `make test`.
test-sdist: build
	OPENBLAS_NUM_THREADS=1 $(BIN)/python .ci/packages.py sdist output/dist -m "not slow"

build: $(VENV)/release.stamp
	rm -rf output/dist
	$(BIN)/python -m build $(if $(LOCK),--no-isolation) --outdir output/dist

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --config pyproject.toml
	$(BIN)/codespell .
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.readthedocs .readthedocs.yaml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/repo-review --show err .

bench-solver: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.solver

bench-defaults: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.defaults

bench-search: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.search

bench-rules: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.rules

# All of MNIST, in three lines; more than an hour on two cores.
bench-mnist: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.mnist

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

# A simulated study: questions chosen by the metric against random ones.
bench-ask: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.ask

# Fifty participants who answer once a second.
bench-load: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.ask_load

# Is the working tree as fast as a commit, and does it fit the same? BASE: a commit or a checkout.
BASE ?= HEAD
bench-regression: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.regression $(BASE)

# A fit to 20 GB of rows on disk, made in a temporary folder. OUTOFCORE: options, such as
# OUTOFCORE="--gigabytes 2 --folder /data".
bench-outofcore: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.outofcore $(OUTOFCORE)

# Evaluations on Dask workers against threads, over networks of namespaces where that is allowed
# (root), and a cost model. CLUSTER: options, such as CLUSTER="--full".
bench-cluster: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.cluster $(CLUSTER)

# Every benchmark on a few rows of made-up data, in a temporary folder: does it still run?
bench-smoke: $(VENV)/bench.stamp
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.smoke

# Every table and figure of the paper; QUICK=1: a small subset in minutes, kept apart in output/.
reproduce: $(VENV)/bench.stamp .venv-peers/stamp .venv-mlpack/stamp
	$(BIN)/python -m benchmarks.paper $(if $(QUICK),--quick)

# Peers that do not run on today's NumPy and scikit-learn, and mlpack, get environments of their own.
.venv-peers/stamp: benchmarks/peers/old.txt
	$(OLD_PYTHON) -m venv .venv-peers
	.venv-peers/$(SCRIPTS)/python -m pip install --quiet --requirement $<
	@touch $@

.venv-mlpack/stamp: benchmarks/peers/mlpack.txt
	$(PYTHON) -m venv .venv-mlpack
	.venv-mlpack/$(SCRIPTS)/python -m pip install --quiet --requirement $<
	@touch $@

# pip of Python 3.11 cannot read dependency groups, so it is upgraded first.
$(VENV)/pip.stamp:
	$(PYTHON) -m venv $(VENV)
	$(if $(LOCK),,$(BIN)/python -m pip install --quiet --upgrade pip)
	@touch $@

$(VENV)/demo.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[plot]'
	@touch $@

$(VENV)/docs.stamp: $(VENV)/pip.stamp pyproject.toml
	$(call install,--editable '.[all]' --group docs)
	@touch $@

$(VENV)/test.stamp: $(VENV)/pip.stamp pyproject.toml
	$(call install,--editable '.[all]' --group test --group lint)
	@touch $@

$(VENV)/release.stamp: $(VENV)/pip.stamp pyproject.toml
	$(call install,--group release)
	@touch $@

$(VENV)/audit.stamp: $(VENV)/pip.stamp pyproject.toml
	$(call install,--group audit)
	@touch $@

$(VENV)-oldest/stamp: pyproject.toml
	$(OLD_PYTHON) -m venv --clear $(VENV)-oldest
ifeq ($(LOCK),)
	$(VENV)-oldest/$(SCRIPTS)/python -m pip install --quiet uv
	$(VENV)-oldest/$(SCRIPTS)/uv pip install --quiet --python $(VENV)-oldest \
		--resolution lowest-direct --only-binary :all: \
		--requirements pyproject.toml --all-extras --group test
	$(VENV)-oldest/$(SCRIPTS)/uv pip install --quiet --python $(VENV)-oldest --no-deps --editable .
else
	$(VENV)-oldest/$(SCRIPTS)/python -m pip install --quiet --require-hashes --only-binary :all: \
		--requirement $(LOCK:.txt=-oldest.txt)
	$(VENV)-oldest/$(SCRIPTS)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
endif
	@touch $@

$(VENV)/bench.stamp: $(VENV)/pip.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group bench
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest .venv-peers .venv-mlpack output docs/api docs/gallery docs/sg_execution_times.rst .coverage .mypy_cache .pytest_cache .ruff_cache
