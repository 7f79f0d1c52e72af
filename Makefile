# `make` lists the targets. Needed: Python 3.11 or newer, make, git. Everything else goes into .venv, which each target makes itself.
.DELETE_ON_ERROR:
# Another virtual environment may be active; ours is used all the same.
unexport VIRTUAL_ENV PYTHONHOME PYTHONPATH

python := .venv/bin/python
ready := .venv/.ready

.PHONY: help demo examples test soak real-model real-judge exporters kafka kafka-test collector backends backends-test collector-test check format-check lint types docs-check docs format build size clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s%s\n", $$1, $$2 }' Makefile

demo: $(ready) ## Score the example traces: no key, no network
	@OTEL_EVAL=.venv/bin/otel-eval sh examples/demo.sh

examples: $(ready) ## Run every example: an agent of each framework, its telemetry, its scores
	@$(python) examples/run.py all

test: $(ready) ## Run the tests
	@$(python) -m pytest

real-model: ## Run the tests that need a language model (127 MB, in an environment of its own)
	@scripts/real_model.sh

real-judge: ## How well a model with 1.5B parameters judges (1.1 GB, hours; goes on where it was cut)
	@scripts/real_judge.sh

soak: $(ready) ## Nothing lost, nothing double, at length: 2,000 conversations, 20 kills
	@OTEL_EVAL_SOAK=long $(python) -m pytest tests/end_to_end/test_soak.py

kafka: ## Fetch Apache Kafka for the tests (Java 17 or newer, and Maven; 44 MB)
	@scripts/kafka.sh

kafka-test: $(ready) kafka collector ## Run the tests of workers behind Kafka alone
	@CI=true $(python) -m pytest tests/kafka tests/collector/test_kafka.py

exporters: ## Install the clients of others that the tests run (Node.js 20 and npm; 56 MB)
	@scripts/exporters.sh js
	@scripts/exporters.sh rotel

collector: ## Build the Collector that the tests run (Go, some 4 minutes, once)
	@scripts/collector.sh

backends: ## Build VictoriaLogs, Jaeger and Prometheus for the tests (Go, some 10 minutes, once)
	@scripts/backends.sh

backends-test: $(ready) collector backends ## Write scores to these backends and ask for them with the queries of docs/backends.md
	@OTEL_EVAL_BACKENDS=all $(python) -m pytest tests/backends

collector-test: $(ready) collector ## Run each configuration of collector/ with a real Collector and otel-eval
	@$(python) -m pytest tests/test_collector.py tests/collector

check: format-check lint types docs-check test ## All that must hold before a change is done

format-check: $(ready)
	@$(python) -m ruff format --check .

lint: $(ready)
	@$(python) -m ruff check .

types: $(ready)
	@$(python) -m mypy

docs-check: $(ready)
	@$(python) docs/generate.py --check

docs: $(ready) ## Write the generated documents anew
	@$(python) docs/generate.py

format: $(ready) ## Format the code and mend what the linter can mend
	@$(python) -m ruff check --fix --exit-zero .
	@$(python) -m ruff format .

build: $(ready) ## Build wheel and source distribution into dist/
	@rm -rf dist
	@$(python) -m build --no-isolation --outdir dist . >/dev/null
	@ls dist

size: build ## Install the core alone and measure it; fails over the limits
	@scripts/size.sh dist/*.whl

clean: ## Remove what was built or cached; .venv stays
	@rm -rf dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

# Made anew when pyproject.toml changes.
$(ready): pyproject.toml scripts/venv.sh
	@echo "making .venv (once; again when pyproject.toml changes)"
	@scripts/venv.sh .venv --editable '.[dev]'
	@touch $@
