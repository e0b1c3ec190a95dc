## bertedu: build BERT yourself. The two commands to know:
##
##   make bert    Pre-train a small BERT on this machine and see what it has learned.
##                Sets up .venv first if need be, then learns for five minutes. The result
##                lands in runs/. Longer: make bert MINUTES=10
##                Anything else that `bertedu pretrain --help` lists: make bert ARGS="--seed 1"
##   make test    Run all tests, and every notebook against its stored outputs (of the solved
##                ones what differs). Only some of the tests, and no notebook:
##                make test ARGS="-k attention"
##                Fuzz, kills and processes whole, as each night: make test ARGS=--thorough
##
## And the rest:
##
##   make check   While you work: lint, and the quick tests that belong to what differs from main.
##   make setup   The set-up alone: .venv with every package at its pinned version. (make bert installs
##                only what it needs, make lab adds what the notebooks use, make test the rest.)
##   make notebooks   The notebooks alone, solved ones too, against their stored outputs. Only one:
##                make notebooks ARGS=notebooks/03_self_attention.ipynb
##   make browser-test   JupyterLab in this machine's Chromium: every view and widget is worked, and
##                nothing may be fetched. Screenshots land in runs/browser-test/.
##   make site    The website, from the stored notebooks, into docs/_build/site. For a class, without
##                solutions: make site ARGS=--without-solutions
##   make lab     Open the course in JupyterLab, at the first notebook.
##   make playground   A page on which a BERT of the course runs: playground.html, and it is opened.
##                Yours: make playground ARGS=runs/documentation-tiny
##   make bench   Measure speeds, each beside its reference.
##   make gpu     On a machine with a GPU: the trainer's speed beside transformers, the share of the
##                peak, the slowest kernels, the tests. Eight minutes in all; see runs/gpu/. On a
##                bare one, without a network: PYTHONPATH=. python3 benchmarks/gpu.py
##   make lint    Check style (ruff) and types (mypy).
##   make help    This text.
##
## Another Python than the first of python3.11, python3 and python that is 3.11 or newer:
##   make setup PYTHON=/path/to/python

# What is installed, each with what stands before it: 1 the package, 2 what the notebooks use, 3 what tests and authors use.
bert playground: PARTS = 1
lab: PARTS = 2
PARTS = 3
EXTRAS_1 =
EXTRAS_2 = [course,production,jax]
EXTRAS_3 = [course,production,jax,hub,tensorboard,authors,browser,site,test]

.PHONY: help bert test check notebooks browser-test setup site lab playground bench gpu lint environment

MINUTES ?= 5
ARGS ?=
CHAPTERS = bertedu/chapters
NBVAL = .venv/bin/python -m pytest --quiet --nbval --nbval-current-env --nbval-sanitize-with tests/nbval_sanitize.cfg \
	-n 2 --dist loadscope
PYTHON ?= $(shell for python in python3.11 python3 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

bert: environment
	.venv/bin/bertedu pretrain --corpus documentation --preset tiny --minutes $(MINUTES) $(ARGS)

# One thread for each of the two test processes: more only get in each other's way. A file stays in one process, which
# then prepares once what its tests share. What was skipped is said at the end.
TESTS = OMP_NUM_THREADS=1 .venv/bin/python -m pytest -n 2 --dist loadfile -rs

test: environment
	$(TESTS) $(ARGS)
	$(if $(filter-out --quiet --thorough,$(ARGS)),,$(NBVAL) notebooks --ignore=notebooks/solutions)

# The tests that belong to what differs from main; with ARGS those that it names.
check: lint
	$(TESTS) -m "not slow" $(or $(ARGS),--few $$(.venv/bin/python tests/support/changed.py))

# Every cell of every notebook is run, and what it says compared with what is stored.
notebooks: environment
	$(NBVAL) $(or $(ARGS),notebooks)

# Of the tests only these need a browser, so they run on their own.
browser-test: environment
	.venv/bin/python -m pytest --quiet --capture=no tests/browser $(ARGS)

setup: environment
	@echo "Ready: .venv has every package at its pinned version. Next: make bert"

# Nothing is executed, and nothing is fetched.
site: environment
	.venv/bin/python -m bertedu.website $(ARGS)

lab: environment
	@mkdir -p notebooks
	.venv/bin/python -m jupyterlab $(firstword $(sort $(wildcard notebooks/[0-9]*.ipynb)) notebooks) $(ARGS)

playground: environment
	.venv/bin/bertedu playground --open $(ARGS)

bench: environment
	.venv/bin/python benchmarks/pretraining.py $(ARGS)
	.venv/bin/python benchmarks/tokenization.py

gpu: environment
	.venv/bin/python benchmarks/gpu.py $(ARGS)

lint: environment
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/ruff check --config $(CHAPTERS)/notebooks.toml $(CHAPTERS)/*/[0-9]*.py
	.venv/bin/ruff format --check --config $(CHAPTERS)/notebooks.toml $(CHAPTERS)/*/[0-9]*.py
	.venv/bin/mypy
	@.venv/bin/python tests/support/voice.py

# Two packages come as sources only. A pip before 23.1, such as Debian 12's, builds them in the old way unless it is asked
# for the new one (--use-pep517), and the old way fails.
# .venv/setup says what was installed (PARTS), in which folder, and from which pins. It reads "unfinished" until the
# last step is done: what an interrupted or moved set-up left behind is cleared away, not repaired.
environment:
	@python="$(PYTHON)"; parts=$(PARTS); \
	wanted="$$(pwd) $$(cat pyproject.toml constraints.txt | cksum)"; \
	found="$$(cat .venv/setup 2>/dev/null)"; \
	case "$$found" in [123]" "*) there=$${found%% *}; found=$${found#* } ;; *) there=0 ;; esac; \
	if .venv/bin/python -c '' 2>/dev/null; then works=yes; else works=no; fi; \
	if [ "$$works $$found" = "yes $$wanted" ] && [ $$there -ge $$parts ]; then exit 0; fi; \
	case "$$works $$found" in \
		"yes $$wanted") ;; \
		"yes $$(pwd) "*) \
			echo "pyproject.toml or constraints.txt has changed: bringing .venv up to date."; \
			if [ $$there -gt $$parts ]; then parts=$$there; fi ;; \
		"yes ") echo "Found a .venv: installing what is missing." ;; \
		*) \
			if [ -z "$$python" ]; then \
				echo "No Python 3.11 or newer was found: install one, or name it: make setup PYTHON=/path/to/python"; exit 1; \
			elif ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
				echo "$$python is no Python 3.11 or newer: name another: make setup PYTHON=/path/to/python"; exit 1; \
			fi; \
			echo "Setting up .venv with $$("$$python" --version): one to four minutes, once."; \
			rm -rf .venv && mkdir .venv && echo unfinished > .venv/setup || exit 1; \
			if ! "$$python" -m venv .venv; then \
				echo "$$python cannot make a virtual environment (on Debian and Ubuntu: apt install python3-venv)."; exit 1; \
			fi ;; \
	esac; \
	case $$parts in \
		1) extras="$(EXTRAS_1)"; echo "Installing torch and the package (.venv will have 1.6 GB)." ;; \
		2) extras="$(EXTRAS_2)"; echo "Installing JupyterLab and what the notebooks use (.venv will have 2.9 GB)." ;; \
		3) extras="$(EXTRAS_3)"; echo "Installing what the notebooks, the tests and authors use (.venv will have 3.2 GB)." ;; \
	esac; \
	echo unfinished > .venv/setup && \
	.venv/bin/python -m pip install --disable-pip-version-check --no-input --use-pep517 \
		-c constraints.txt -e ".$$extras" && \
	echo "$$parts $$wanted" > .venv/setup || \
	{ echo "The set-up did not finish (see above). Once that is put right, the same command starts it again."; exit 1; }
