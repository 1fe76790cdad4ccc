/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugin_abi.h - the part of QEMU's TCG plugin interface (version 1: QEMU 6.2 to 8.2) that the
 * referee uses. Debian ships QEMU without its header, so the declarations are written down here
 * from the documented interface.
 */
#ifndef REFEREE_PLUGIN_ABI_H
#define REFEREE_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_VERSION 1
#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
	const char *target_name;
	struct {
		int min, cur;
	} version;
	bool system_emulation;
	union {
		struct {
			int smp_vcpus, max_vcpus;
		} system;
	};
} qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void (*tb_trans_fn)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*exec_fn)(unsigned int vcpu, void *data);
typedef void (*exit_fn)(qemu_plugin_id_t id, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_trans_fn fn);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_fn fn,
					  enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_fn fn,
					    enum qemu_plugin_cb_flags flags, void *data);
/* later versions took it away: the referee then counts by call */
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
						enum qemu_plugin_op op, void *word, uint64_t value)
	__attribute__((weak));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, exit_fn fn, void *data);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
void qemu_plugin_outs(const char *text);

#endif
