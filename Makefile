# make demo    a robot with a soft finger and a rope, and its arm in MuJoCo: a page that plays and a picture
# make test    the whole test suite, with other engines as witnesses
# make docs    the documentation as a site, in build/site, with its gallery
# make first-time  the wheel in fresh environments, outside this folder, and what the pages tell to do
# make fuzz    mutated files of all kinds, CASES of them
# make lint    style, types, imports and the rules of compiled code
# make bench   times and orders, peers side by side
# make map     docs/map.md from the docstrings of the packages, and what packages export for type checkers
# make portability  the suite under other round-off (other BLAS kernels, a generic processor, shaken scenes): hours
# make clean   back to a fresh checkout
#
# Needs Python 3.11 or newer, and nothing else: everything is installed into .venv, at the versions of constraints.txt.
# Variables: PYTHON (interpreter), PYTEST (its arguments, instead of all tests in JOBS processes), WAYS (of `portability`, e.g. "--only shake-1"), BENCH (arguments of `unibody bench`), CASES (of `fuzz`), FIRST (of `first-time`, e.g. "--python 3.12").

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
PYTEST  ?=
JOBS    ?= 2
BENCH   ?=
WAYS    ?=
CASES   ?= 100000
FIRST   ?=

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt

.PHONY: demo test first-time portability fuzz docs lint bench map clean
.DELETE_ON_ERROR:

demo: $(VENV)/.installed-demo
	@$(BIN)/python examples/robot_hand.py

test: $(VENV)/.installed-test,peers
	sh tools/install_browser.sh
	@mkdir -p build
	$(BIN)/python -m pytest $(if $(PYTEST),$(PYTEST),-n $(JOBS) --dist worksteal --dossier build/dossier.json)
	$(if $(PYTEST),,$(BIN)/python tools/make_dossier.py build/dossier.json --check)

first-time: $(VENV)/.installed-test,peers
	sh tools/install_browser.sh
	$(BIN)/python tools/first_time.py $(FIRST)

portability: $(VENV)/.installed-test,peers
	sh tools/install_browser.sh
	$(BIN)/python tools/portability.py $(WAYS) $(if $(PYTEST),$(PYTEST),-q -n $(JOBS) --dist worksteal)

fuzz: $(VENV)/.installed-test
	UNIBODY_FUZZ=$(CASES) $(BIN)/python -m pytest tests/fuzz

docs: $(VENV)/.installed-docs,plot,render
	-$(BIN)/python tools/make_gallery.py
	$(BIN)/mkdocs build --quiet
	@echo "Open $(abspath build/site/index.html)"

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/python tools/kernel_lint.py
	$(BIN)/python tools/make_map.py --check
	$(BIN)/python tools/make_exports.py --check
	$(BIN)/python tools/make_capabilities.py --check
	$(BIN)/python tools/make_schema.py --check
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy

bench: $(VENV)/.installed-plot,peers
	$(BIN)/unibody bench $(BENCH)

map:
	$(PYTHON) tools/make_map.py
	$(PYTHON) tools/make_exports.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache demo.png demo.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "no python3 on the PATH; say make PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than Python 3.11; say make PYTHON=..."; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# One stamp per set of extras; the package itself is installed in place, so that only changed requirements install anew.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(VENV)/.made
	@echo "installing what .[$*] needs into $(VENV) …"
	$(PIP) -e '.[$*]'
	@touch $@
