# Quire: one non-recursive Makefile. `make help` lists what it can do.
#
# Every *.c and *.asm below the rooms is found by itself; nothing is listed here. A build lives in
# its own directory (BUILD=), chosen by DEBUG=1 and TESTS=1 unless given.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# ---- what the user may set -------------------------------------------------------------------
DEBUG   ?=
TESTS   ?=
V       ?=
BUILD   ?= build/$(if $(DEBUG),debug,release)$(if $(TESTS),-test)

ifeq ($(origin CC),default)
CC      := $(CROSS_COMPILE)gcc
endif
CROSS_COMPILE ?=
LD      := $(if $(filter default,$(origin LD)),$(CROSS_COMPILE)ld,$(LD))
NM      := $(CROSS_COMPILE)nm
OBJCOPY := $(CROSS_COMPILE)objcopy
OBJDUMP := $(CROSS_COMPILE)objdump
NASM    ?= nasm
PYTHON  ?= python3
MUSL_CC ?= $(if $(CROSS_COMPILE),$(CROSS_COMPILE)gcc,musl-gcc)
HOSTCC  ?= gcc
BUSYBOX ?= /bin/busybox

NODES   ?= 2
CPUS    ?= 1
MEM     ?= 512M
CLOCK   ?= paced
ACCEL   ?= tcg
APPEND  ?=
OUT     ?=
EXTRA   ?=
DISK    ?=
T       ?=

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' "$(1)" "$(2)";)

# ---- sources ---------------------------------------------------------------------------------
ROOMS   := boot arch/x86_64 lib kernel trace sched mm drivers fs sys $(if $(TESTS),tests/kernel)
CSRC    := $(sort $(shell find $(ROOMS) -name '*.c' 2>/dev/null))
ASRC    := $(sort $(shell find $(ROOMS) -name '*.asm' 2>/dev/null))
OBJS    := $(CSRC:%.c=$(BUILD)/%.o) $(ASRC:%.asm=$(BUILD)/%.asm.o)
USRC    := $(sort $(wildcard user/*.c))
UDIRS   := $(sort $(patsubst user/%/,%,$(dir $(wildcard user/*/*.c))))
UBIN    := $(USRC:user/%.c=$(BUILD)/user/%) $(UDIRS:%=$(BUILD)/user/%)

# ---- flags -----------------------------------------------------------------------------------
IS_CLANG := $(findstring clang,$(notdir $(firstword $(CC))))

WARN    := -Wall -Wextra -Wno-unused-parameter -Wmissing-prototypes -Wstrict-prototypes -Wvla \
	   -Wno-sign-compare -Wno-missing-field-initializers -Werror
CFLAGS  := -std=gnu11 -O2 -g -ffreestanding -fno-strict-aliasing -fno-common -mcmodel=kernel \
	   -mno-red-zone -mgeneral-regs-only -fno-pic -fno-pie -fno-stack-protector \
	   -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fcf-protection=none \
	   -fno-delete-null-pointer-checks -ffile-prefix-map=$(CURDIR)/= $(WARN)
CFLAGS  += -iquote . -iquote arch/x86_64/include
ifneq ($(IS_CLANG),)
CFLAGS  += --target=x86_64-unknown-linux-gnu -Wno-address-of-packed-member
else
CFLAGS  += -fno-tree-loop-distribute-patterns
endif
ifneq ($(DEBUG),)
CFLAGS  += -DQUIRE_DEBUG=1 -fsanitize=undefined -fno-sanitize=alignment $(if $(IS_CLANG),-fsanitize-trap=undefined \
	   -fno-sanitize=function,-fsanitize-undefined-trap-on-error -Wno-maybe-uninitialized \
	   -Wno-stringop-overflow -Wno-array-bounds)
AFLAGS  := -DQUIRE_DEBUG=1
endif
ifneq ($(TESTS),)
CFLAGS  += -DQUIRE_TESTS=1
AFLAGS  += -DQUIRE_TESTS=1
endif
AFLAGS  += -f elf64 -g -F dwarf -Ox -Werror -I ./ -I arch/x86_64/include/
LDFLAGS := -nostdlib -static -z max-page-size=4096 -z common-page-size=4096 -z noexecstack \
	   --build-id=none --no-warn-rwx-segments --orphan-handling=warn
LDFLAGS := $(filter-out $(if $(shell $(LD) --help | grep -q no-warn-rwx && echo y),,--no-warn-rwx%),$(LDFLAGS))
UFLAGS  := -std=gnu11 -O2 -g0 -static -Wall -Wextra -Wno-unused-parameter -Werror -no-pie -fno-pie

ELF     := $(BUILD)/quire.elf
INITRD  := $(BUILD)/initramfs.cpio
ISO     := $(BUILD)/quire.iso

# ---- main targets ----------------------------------------------------------------------------
.PHONY: bench-disk referee all kernel initramfs iso run run-uefi debug test lint bench format help clean distclean \
	FORCE soak flags user
all: $(ELF) $(INITRD) compile_commands.json
kernel: $(ELF)
initramfs: $(INITRD)
iso: $(ISO)
user: $(UBIN)

# Stamps that change only when their content does: a new flag or a vanished file rebuilds.
define stamp
@mkdir -p $(dir $@); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
	printf '%s\n' '$(subst ','\'',$(1))' > $@
endef
$(BUILD)/.flags: FORCE
	$(call stamp,$(CC) $(CFLAGS) / $(NASM) $(AFLAGS) / $(LD) $(LDFLAGS))
$(BUILD)/.objects: FORCE
	$(call stamp,$(OBJS))
$(BUILD)/.append: FORCE
	$(call stamp,$(APPEND))
$(BUILD)/.extra: FORCE
	$(call stamp,$(BUSYBOX) $(EXTRA) $(UBIN))

$(BUILD)/%.o: %.c $(BUILD)/.flags
	@mkdir -p $(dir $@)
	$(call say,CC,$<)$(CC) $(CFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<
$(BUILD)/%.asm.o: %.asm $(BUILD)/.flags
	@mkdir -p $(dir $@)
	$(call say,NASM,$<)$(NASM) $(AFLAGS) -MD $(@:.o=.d) -MP -o $@ $<
$(BUILD)/linker.ld: linker.ld $(BUILD)/.flags
	@mkdir -p $(dir $@)
	$(Q)$(CC) -E -P -undef -x c -o $@ $<

# ---- the image: three links give it its own symbol table (tools/mksyms says why) ---------------
link = $(LD) $(LDFLAGS) -T $(BUILD)/linker.ld -o $(1) @$(BUILD)/objects.rsp $(2)
$(ELF): $(OBJS) $(BUILD)/linker.ld $(BUILD)/.objects tools/mksyms
	@$(file >$(BUILD)/objects.rsp,$(OBJS))
	$(call say,LD,$@)set -e; cd $(CURDIR); b=$(BUILD)/ksyms; \
	$(PYTHON) tools/mksyms --empty > $$b.0.asm; $(NASM) -f elf64 -o $$b.0.o $$b.0.asm; \
	$(call link,$(BUILD)/pass1.elf,$$b.0.o); \
	$(NM) -n $(BUILD)/pass1.elf | $(PYTHON) tools/mksyms > $$b.1.asm; \
	$(NASM) -f elf64 -o $$b.1.o $$b.1.asm; $(call link,$(BUILD)/pass2.elf,$$b.1.o); \
	$(NM) -n $(BUILD)/pass2.elf | $(PYTHON) tools/mksyms > $$b.2.asm; \
	$(NASM) -f elf64 -o $$b.2.o $$b.2.asm; $(call link,$@,$$b.2.o -Map=$(BUILD)/quire.map); \
	$(NM) -n $@ | $(PYTHON) tools/mksyms | cmp -s - $$b.2.asm || \
		{ echo "the symbol table of $@ does not settle" >&2; rm -f $@; exit 1; }; \
	rm -f $(BUILD)/pass1.elf $(BUILD)/pass2.elf

# ---- user programs, initramfs, ISO -------------------------------------------------------------
$(BUILD)/user/%: user/%.c $(wildcard user/*.h)
	@mkdir -p $(dir $@)
	$(call say,USERCC,$<)$(MUSL_CC) $(UFLAGS) -o $@ $< && strip $@
# A directory of user/ is one program.
define user_dir
$(BUILD)/user/$(1): $(wildcard user/$(1)/*.[ch] user/*.h)
	@mkdir -p $$(dir $$@)
	$(call say,USERCC,user/$(1)/*.c)$(MUSL_CC) $(UFLAGS) -o $$@ $(sort $(wildcard user/$(1)/*.c)) \
		&& strip $$@
endef
$(foreach d,$(UDIRS),$(eval $(call user_dir,$(d))))
$(INITRD): $(UBIN) $(BUILD)/.extra $(shell find rootfs -type f 2>/dev/null) tools/mkinitramfs \
		$(if $(EXTRA),$(shell find $(EXTRA) 2>/dev/null))
	$(call say,CPIO,$@)$(PYTHON) tools/mkinitramfs -o $@ --busybox $(BUSYBOX) \
		$(UBIN:%=--bin %) $(EXTRA:%=--extra %)
$(ISO): $(ELF) $(INITRD) $(BUILD)/.append tools/mkiso
	$(call say,ISO,$@)$(PYTHON) tools/mkiso -o $@ --kernel $(ELF) --initrd $(INITRD) \
		--append '$(subst ','\'',$(APPEND))'

compile_commands.json: $(BUILD)/.flags $(BUILD)/.objects tools/compdb
	@$(file >$(BUILD)/sources.rsp,$(CSRC))
	@$(PYTHON) tools/compdb $@ $(BUILD) $(BUILD)/sources.rsp -- $(CC) $(CFLAGS)

# ---- run ---------------------------------------------------------------------------------------
RUN = $(PYTHON) tools/qemu-run --nodes $(NODES) --cpus $(CPUS) --mem $(MEM) --clock $(CLOCK) \
	--accel $(ACCEL) $(if $(OUT),--out $(OUT)) $(if $(NODESPEC),--node-spec $(NODESPEC)) \
	$(foreach d,$(DISK),--disk $(d))
DIRECT = --kernel $(ELF) --initrd $(INITRD) --append '$(subst ','\'',$(APPEND))'

run: $(if $(filter 1,$(KERNEL)),$(ELF) $(INITRD),$(ISO))
	$(Q)$(RUN) $(if $(filter 1,$(KERNEL)),$(DIRECT),--iso $(ISO))
# The firmware takes minutes on a counted clock, so here the default is host time.
run-uefi: CLOCK := $(if $(filter file,$(origin CLOCK)),wall,$(CLOCK))
run-uefi: $(ISO)
	$(Q)$(RUN) --uefi --iso $(ISO)
debug: $(ELF) $(INITRD)
	$(Q)$(PYTHON) tools/gdb/session --gdb $${GDB:-gdb} --kernel $(ELF) -- $(RUN) $(DIRECT)

# ---- tests -------------------------------------------------------------------------------------
test:
	$(Q)$(PYTHON) tools/runtests --build $(BUILD) $(if $(T),--pattern '$(T)')
soak:
	$(Q)$(PYTHON) tools/runtests --build $(BUILD) --soak $(if $(T),--pattern '$(T)')
lint:
	$(Q)$(PYTHON) tools/lint --build $(BUILD)
bench: $(ELF) $(INITRD)
	$(Q)$(PYTHON) tools/bench --kernel $(ELF) --initrd $(INITRD) --out $(BUILD)/bench

# One document's experiment: many boots, one table, a verdict per claim; a folder below out/.
lab-%: $(ELF) $(INITRD) FORCE
	$(Q)$(PYTHON) tools/lab $* --kernel $(ELF) --initrd $(INITRD) $(if $(QUICK),--quick) \
		$(if $(RUNS),--runs $(RUNS)) $(if $(JOBS),--jobs $(JOBS)) $(PART:%=--part %)
bench-disk: $(ELF) user
	$(Q)$(PYTHON) tools/linux-disk --kernel $(ELF) --out $(BUILD)/bench-disk \
		$(if $(LINUX),--linux $(LINUX)) $(if $(ROUNDS),--rounds $(ROUNDS))

# A plugin for QEMU that measures interrupts-off sections from outside, beside what the tracer says.
REFEREE := $(BUILD)/referee.so
, := ,
$(REFEREE): $(wildcard tools/referee/*.[ch])
	@mkdir -p $(dir $@)
	$(call say,HOSTCC,$@)$(HOSTCC) -std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -shared \
		-fvisibility=hidden -o $@ $(filter %.c,$^)
$(BUILD)/referee.cpio: $(UBIN) tools/mkinitramfs $(shell find tests/qemu/guest -type f)
	$(call say,CPIO,$@)$(PYTHON) tools/mkinitramfs -o $@ --busybox $(BUSYBOX) $(UBIN:%=--bin %) \
		--extra tests/qemu/guest
referee: $(ELF) $(REFEREE) $(BUILD)/referee.cpio
	$(Q)$(PYTHON) tools/referee/compare.py --plugin $(REFEREE) --kernel $(ELF) \
		--initrd $(BUILD)/referee.cpio --out $(BUILD)/referee --cpus $(if $(filter file,$(origin CPUS)),1$(,)2,$(CPUS))

# What the kernel is compiled with, for tools.
flags:
	@echo $(CC) $(CFLAGS)

format:
	$(Q)clang-format -i $(if $(F),$(F),$(shell find $(ROOMS) user tests -name '*.[ch]'))
clean:
	$(Q)rm -rf $(BUILD) compile_commands.json
distclean:
	$(Q)rm -rf build compile_commands.json

define HELP
make                 kernel, initramfs, compile_commands.json
make run             boot the GRUB ISO, console on this terminal (leave: exit, or ^A x)
make run-uefi        the same ISO on UEFI firmware (CLOCK=wall unless given)
make iso             $(ISO)
make test [T=word]   all tests; with T those whose name contains the word
make soak            the long tests
make lint            floors, lone headers, cli/sti audit, style, documents
make bench           table of instructions per operation
make lab-001         a document's experiment (001, 002, 003): claims beside figures, HTML page in out/ (QUICK=1: minutes)
make referee         interrupts-off sections counted from outside (a QEMU plugin) beside the tracer's figures
make bench-disk      throughput of a virtio disk on host time; LINUX=1: beside Linux (downloads its kernel)
make debug           QEMU and gdb, attached after long mode
make format [F=file] clang-format
make clean, distclean

run:    NODES=2 CPUS=1 MEM=512M CLOCK=paced|virtual|wall ACCEL=tcg|kvm APPEND="words"
        EXTRA=dir (its contents laid over / of the guest) OUT=file (second serial port) KERNEL=1 (-kernel)
        DISK="file[,ro][,serial=S][,queues=N] file2" (raw images behind virtio-blk: vda, vdb)
        NODESPEC=256M:0-1,128M:,0:2 (uneven nodes: size:cpus,...)
lab:    QUICK=1 (short) RUNS=n (of each side) JOBS=n (machines at a time) PART="A B100 C D"
build:  DEBUG=1 TESTS=1 BUILD=dir CC=clang CROSS_COMPILE=prefix- V=1
        BUSYBOX=file (a static x86-64 one) MUSL_CC=compiler (for user/)
endef
help:
	@$(info $(HELP)):

-include $(OBJS:.o=.d)
