# SPDX-License-Identifier: GPL-2.0-only
#
# What people type.  Kbuild says what the modules are made of.

KVER  ?= $(shell uname -r)
KDIR  ?= /lib/modules/$(KVER)/build
BUILD ?= build

TOOLS   := $(shell cat TOOLS)
VERSION := $(shell cat VERSION)

# As uname -r will show it.  The headers know it, whatever KDIR is called.
RELEASE := $(or $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		$(KDIR)/include/generated/utsrelease.h 2>/dev/null),$(KVER))

OUT  := $(abspath $(BUILD))/$(RELEASE)
OBJ  := $(OUT)/obj
PROGS := $(abspath $(BUILD))/userspace

# All that a module is built from; dkms gets no more than this.
SOURCES := Kbuild Makefile TOOLS VERSION dkms.conf \
	scripts/compat-probe scripts/source-tree scripts/syscall-names \
	$(wildcard common/*.[ch] modules/*.[ch])

.PHONY: all
all: modules userspace	## modules for kernel KVER (default: the running one) or KDIR, and the programs

.PHONY: modules
modules: tree		## the modules alone, into build/<release>/
	$(MAKE) -C $(KDIR) M=$(OBJ) modules
	@rm -f $(filter-out $(TOOLS:%=$(OUT)/%.ko),$(wildcard $(OUT)/*.ko))
	@for t in $(TOOLS); do \
		[ $(OUT)/$$t.ko -nt $(OBJ)/$$t.ko ] || \
		objcopy --strip-debug $(OBJ)/$$t.ko $(OUT)/$$t.ko; \
	done

# Kbuild puts objects beside the sources.  Each kernel gets a tree of its own,
# of links to the sources, so that several can be built from one checkout.
.PHONY: tree
tree: headers
	@mkdir -p $(addprefix $(OBJ)/,common modules scripts generated)
	@find -L $(OBJ) -type l -delete
	@for f in $(SOURCES); do \
		[ $(OBJ)/$$f -ef $$f ] || ln -sf $(CURDIR)/$$f $(OBJ)/$$f; \
	done

.PHONY: headers
HERE := $(patsubst /lib/modules/%/build,%,$(wildcard /lib/modules/*/build))
headers:
ifeq ($(wildcard $(KDIR)/include/generated/utsrelease.h),)
ifeq ($(origin KDIR),file)
	$(error tap: no headers of kernel $(KVER): apt install linux-headers-$(KVER), \
		or choose one with make KVER=release (here: $(or $(HERE),none)))
else
	$(error tap: KDIR=$(KDIR) is neither a built kernel nor its headers)
endif
endif
ifeq ($(shell command -v $(firstword $(CC))),)
	$(error tap: no C compiler: apt install build-essential)
endif

.PHONY: userspace
userspace:		## the programs alone, into build/userspace/
	$(if $(wildcard userspace/Makefile),+$(MAKE) -C userspace O=$(PROGS))

.PHONY: workloads
workloads:
	$(MAKE) -C tests/workloads

.PHONY: demo
demo:			## the suite at work on a Debian kernel in a virtual machine
	tests/vm/demo

.PHONY: check
check:			## all checks and tests; ONLY=pattern for some
	tests/check

.PHONY: check-debug
check-debug:		## the tests on kernels with KASAN, lockdep, KCSAN (built first)
	tests/check debug kcsan

.PHONY: test
test:			## the tests that run in virtual machines
	tests/check 6.1 7.3 debug kcsan

.PHONY: bench
bench:			## cost per event, in instructions, and what real programs get done
	tests/bench/run
	tests/bench/throughput

.PHONY: vm
vm:			## a shell (or CMD) in a virtual machine with kernel KVER (6.1, 7.3, debug, kcsan)
	tests/vm/guest -k $(if $(filter file,$(origin KVER)),6.1,$(KVER)) -s $(if $(CMD),'$(CMD)')

# Into a staging area (DESTDIR) no module index goes: it belongs to the machine
# that the files are for.  And who has no key must not be told to sign.
INSTALL_MOD_PATH ?= $(DESTDIR)
NO_KEY := $(if $(wildcard $(KDIR)/certs/signing_key.pem),,CONFIG_MODULE_SIG_ALL=)
.PHONY: install
install: all		## modules, programs and man pages; DESTDIR, INSTALL_MOD_PATH
	$(MAKE) -C $(KDIR) M=$(OBJ) modules_install \
		INSTALL_MOD_PATH=$(INSTALL_MOD_PATH) $(NO_KEY)
	$(if $(DESTDIR),,depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(RELEASE))
	$(if $(wildcard userspace/Makefile),+$(MAKE) -C userspace O=$(PROGS) install DESTDIR=$(DESTDIR))

DKMS_SOURCE := /usr/src/tap-$(VERSION)
.PHONY: dkms-source
dkms-source:
	rm -rf $(DKMS_SOURCE)
	mkdir -p $(DKMS_SOURCE)
	cp --parents -t $(DKMS_SOURCE) $(SOURCES)

# dkms starts make itself and misreads it when it looks like a sub-make.
.PHONY: dkms
dkms: headers dkms-source	## register this version with dkms, build and install it for KVER
	if dkms status tap/$(VERSION) | grep -q .; then dkms remove tap/$(VERSION) --all; fi
	env -u MAKEFLAGS -u MAKELEVEL dkms install tap/$(VERSION) -k $(RELEASE)

.PHONY: clean
clean:			## remove all that was built
	rm -rf $(BUILD)

.PHONY: help
help:			## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' Makefile | expand -t 12
