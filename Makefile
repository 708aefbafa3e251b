# SPDX-License-Identifier: GPL-2.0-only
#
# What people type; Kbuild says what the modules are made of.

KVER  ?= $(shell uname -r)
KDIR  ?= /lib/modules/$(KVER)/build
BUILD ?= build

TOP := $(CURDIR)

# The name that uname -r will show.  Of KDIR alone only the headers know it.
RELEASE := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' \
		$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
RELEASE := $(or $(RELEASE),$(KVER))

OUT := $(abspath $(BUILD))/$(RELEASE)
OBJ := $(OUT)/obj

.PHONY: all modules userspace
all: modules userspace

# Kbuild puts objects beside the sources.  Each kernel gets a tree of its own,
# of links to the sources, so that several can be built from one checkout.
SOURCES := Kbuild TOOLS VERSION $(wildcard scripts/* common/*.[ch] modules/*.[ch])

.PHONY: tree
tree: headers
	@mkdir -p $(OBJ)/common $(OBJ)/modules $(OBJ)/scripts $(OBJ)/generated
	@find -L $(OBJ) -type l -delete
	@for f in $(SOURCES); do \
		[ $(OBJ)/$$f -ef $$f ] || ln -sf $(TOP)/$$f $(OBJ)/$$f; \
	done

modules: tree
	+$(MAKE) -C $(KDIR) M=$(OBJ) modules
	@rm -f $(OUT)/*.ko
	@ln $(OBJ)/*.ko $(OUT)/

.PHONY: headers
headers:
	@[ -e $(KDIR)/include/generated/utsrelease.h ] || { \
		echo "tap: no headers of kernel $(KVER): apt install linux-headers-$(KVER)," \
			"or name another one: make KVER=release or KDIR=path" >&2; exit 1; }
	@command -v $(firstword $(CC)) >/dev/null || { \
		echo "tap: no C compiler: apt install build-essential" >&2; exit 1; }

userspace:
	$(if $(wildcard userspace/Makefile),+$(MAKE) -C userspace O=$(abspath $(BUILD))/userspace)

.PHONY: clean
clean:
	rm -rf $(BUILD)
