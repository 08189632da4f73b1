# Every target does its own set-up; all it takes is Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
POLICY ?= rassg
SCENARIO ?= scenarios/recast_prospective.yaml
# How long a decode takes where the recognizer will run, relative to the processor that made it; this
# brings those of the older processor to the newer one's pace (medians of the same prefixes on both).
SERVICE_SCALE ?= X86_V3=0.365
TEST := recast/test recast/noisy-20db recast/noisy-10db
RECAST := recast/dev-selection recast/dev-calibration $(TEST)
QWEN := $(addprefix recast-qwen/,dev-selection dev-calibration test)
# llama-cpp-python comes as source: compiled once, for any x86-64, and kept.
WHEELS ?= $(or $(RASSG_SIM_CACHE),$(HOME)/.cache/rassg-sim)/wheels
COMPILE_LIMIT ?= 1200
GGML := $(foreach set,AVX AVX2 FMA F16C BMI2,-DGGML_$(set)=ON) -DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.DEFAULT_GOAL := help
.PHONY: help sim compare test lint tables bench recast parser wheel clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

sim: $(VENV)/.core ## Run SCENARIO under POLICY (default: rassg on ReCAST)
	$(BIN)/simcore run $(SCENARIO) --policy $(POLICY)

compare: $(VENV)/.core ## Compare all policies of SCENARIO with the first
	$(BIN)/simcore run $(SCENARIO)

test: $(VENV)/.gguf lint ## Lint, type-check and test everything
	-$(BIN)/simcore trace models --only tiny.en
	$(BIN)/python -m pytest --numprocesses 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/lint-imports
	$(BIN)/mypy

tables: $(VENV)/.dev ## Tables 1 and 2 with the forecast controls, and their page, in runs/tables
	$(BIN)/simcore train controls $(TEST) --out build/tables.parquet
	$(BIN)/simcore train evaluate scenarios/packs/recast/gru $(TEST) --out build/quality
	$(BIN)/simcore tables --traces build/tables.parquet --quality build/quality/quality.json --jobs 2

bench: $(VENV)/.dev ## Measure trajectories a second, as ratios to plain scripts
	$(BIN)/python -m tests.benchmarks

recast: $(VENV)/.dev ## Make the ReCAST packs again, from where it was left: models, speech, decoding (hours)
	$(PIP) --editable '.[synthesis]'
	$(BIN)/simcore trace models --only base --only kokoro
	$(BIN)/simcore recast build --service-scale $(SERVICE_SCALE)
	$(BIN)/simcore train hazard --on recast/train --out scenarios/packs/recast/hazard.json
	$(BIN)/simcore train gru
	$(BIN)/simcore train forecast --model scenarios/packs/recast/hazard.json $(RECAST)
	$(BIN)/simcore train forecast --model scenarios/packs/recast/gru $(RECAST)

parser: $(VENV)/.gguf ## Train the small parser, from where it was left, and read ReCAST with it (two hours)
	$(BIN)/simcore train-parser --out frontends/parsing/qwen/model.gguf
	$(BIN)/simcore parser pack $(addprefix recast/,train dev-selection dev-calibration test) --out scenarios/packs/recast-qwen
	$(BIN)/simcore train hazard --on recast-qwen/train --out scenarios/packs/recast-qwen/hazard.json
	$(BIN)/simcore train gru --train recast-qwen/train --selection recast-qwen/dev-selection --calibration recast-qwen/dev-calibration
	$(BIN)/simcore train forecast --model scenarios/packs/recast-qwen/hazard.json $(QWEN)
	$(BIN)/simcore train forecast --model scenarios/packs/recast-qwen/gru $(QWEN)

wheel: $(VENV)/.dev ## Build the wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean: ## Remove what the targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing the simulator into $(VENV) ..."
	$(PIP) --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "Installing the test tools and the extras into $(VENV) ..."
	$(PIP) --editable '.[dev,speech,train,agents]'
	@touch $@

# Where it cannot be compiled, its tests are skipped and say so.
$(VENV)/.gguf: $(VENV)/.dev
	@echo "Installing llama-cpp-python; the first time it is compiled, which takes some minutes ..."
	-CMAKE_ARGS="$(GGML)" timeout $(COMPILE_LIMIT) $(BIN)/python -m pip wheel --quiet --no-deps --find-links $(WHEELS) --wheel-dir $(WHEELS) --constraint constraints.txt llama-cpp-python
	-$(PIP) --find-links $(WHEELS) --only-binary llama-cpp-python --editable '.[gguf]'
	@touch $@
