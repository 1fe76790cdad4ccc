; SPDX-License-Identifier: BSD-2-Clause
;
; entry.asm - every way into the kernel and out of it.
;
; A gate or syscall clears IF, so an entry from code with interrupts on opens an interrupts-off
; section; the hooks are called by the C side (trap.c, irq.c) except on the system call path, which
; is kept short. Each way leaves a full struct pt_regs on the kernel stack.
;
; GS: user mode runs with its own GS base, the kernel with the per-CPU offset; swapgs exchanges them
; when CS says user. The four IST entries can interrupt the gap between entry and swapgs, so they do
; not look at CS: they load the offset that is stored at the bottom of their stack and put the old
; base back at the end.
;
; sysret is used only when nobody changed the frame (USER_WORK_FULL_REGS is clear, rip is still
; rcx); everything else leaves by iretq with all registers restored, after exit_to_user() has made
; rip, cs, ss and rflags harmless.

%include "arch/x86_64/asm.inc"
default rel

extern irq_dispatch, trap_dispatch, trap_page_fault, trap_paranoid
extern syscall_dispatch, syscall_exit_slow, thread_first_run
extern irqoff_enabled, irqoff_start, irqoff_stop
extern current_arch, kernel_stack_top, syscall_user_rsp
extern site_syscall_entry, site_syscall_exit, site_irq_entry, site_irq_exit
extern site_fault_entry, site_fault_exit, site_nmi

section .text progbits alloc exec nowrite align=64

; ---- system calls ------------------------------------------------------------------------------
global syscall_entry
syscall_entry:
	IRQ_INSN site_syscall_entry, INSN_ENTRY
	swapgs
	mov [gs:abs syscall_user_rsp], rsp
	mov rsp, [gs:abs kernel_stack_top]
	push USER_DS
	push qword [gs:abs syscall_user_rsp]
	push r11
	push USER_CS
	push rcx
	push rax			; orig_rax
	push rdi
	push rsi
	push rdx
	push rcx
	push -38			; rax: -ENOSYS
	push r8
	push r9
	push r10
	push r11
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	mov rdi, rsp
	sub rsp, 8			; the ABI wants 16-byte alignment at calls
	cmp byte [irqoff_enabled], 0
	jne .entry_traced
.go:	IRQ_INSN site_syscall_entry, INSN_ON
	sti
	call syscall_dispatch
	IRQ_INSN site_syscall_exit, INSN_OFF
	cli
	mov rax, [gs:abs current_arch]
	cmp dword [rax], 0		; user_work
	jne .slow
	cmp byte [irqoff_enabled], 0
	jne .slow
	mov rcx, [rsp + 8 + RIP]
	cmp rcx, [rsp + 8 + RCX]
	jne .slow
	mov r11, [rsp + 8 + RFLAGS]
	mov rdi, [rsp + 8 + RDI]	; rbx rbp r12-r15 were preserved by the C code
	mov rsi, [rsp + 8 + RSI]
	mov rdx, [rsp + 8 + RDX]
	mov rax, [rsp + 8 + RAX]
	mov r8, [rsp + 8 + R8]
	mov r9, [rsp + 8 + R9]
	mov r10, [rsp + 8 + R10]
	mov rsp, [rsp + 8 + RSP]
	swapgs
	IRQ_INSN site_syscall_exit, INSN_RETURN
	o64 sysret

.entry_traced:				; rbx .. r15 stay the program's: the short way out is sure
	mov rdi, site_syscall_entry	; of it, and the tracer may be off by then
	call irqoff_start
	mov rdi, site_syscall_entry
	call irqoff_stop
	lea rdi, [rsp + 8]
	jmp .go

.slow:	lea rdi, [rsp + 8]
	call syscall_exit_slow
	jmp return_to_user

; ---- ways out ----------------------------------------------------------------------------------
; rsp points 8 below the frame (alignment word)
return_from_trap:
	test byte [rsp + 8 + CS], 3
	jz return_to_kernel
return_to_user:
	add rsp, 8
	POP_REGS
	add rsp, 8
	swapgs
	IRQ_INSN site_irq_exit, INSN_RETURN
	iretq
return_to_kernel:
	add rsp, 8
	POP_REGS
	add rsp, 8
	IRQ_INSN site_irq_exit, INSN_RETURN
	iretq

; ---- first instructions of a new thread: its switch frame holds fn in rbx, arg in r12 -----------
; rax = the arch_thread that ran before, as arch_switch_to returns it
global thread_entry_kernel
thread_entry_kernel:
	xor ebp, ebp
	mov rdi, rax
	call thread_first_run		; returns with interrupts on
	mov rdi, r12
	call rbx			; does not return
	ud2
global thread_entry_user
thread_entry_user:
	xor ebp, ebp
	mov rdi, rax
	call thread_first_run		; returns with interrupts on
	IRQ_INSN site_syscall_exit, INSN_OFF
	cli
	lea rdi, [rsp + 8]
	call syscall_exit_slow
	jmp return_to_user

; ---- stack switch: arch_switch_stacks(prev, next) ------------------------------------------------
global arch_switch_stacks
arch_switch_stacks:
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	mov [rdi + 8], rsp		; arch_thread.rsp
	mov rsp, [rsi + 8]
	mov [gs:abs current_arch], rsi
	pop r15
	pop r14
	pop r13
	pop r12
	pop rbp
	pop rbx
	mov rax, rdi
	ret

; ---- interrupts --------------------------------------------------------------------------------
align 16
irq_common:
	push rdi
	PUSH_REGS_AFTER_RDI
	cld
	test byte [rsp + CS], 3
	jz .kernel
	swapgs
.kernel:
	CLAC
	mov rdi, rsp
	sub rsp, 8
	call irq_dispatch
	jmp return_from_trap

%assign v 0
%rep 256
  %if v >= 32
align 16
irq_stub_ %+ v:
	IRQ_INSN site_irq_entry, INSN_ENTRY
	push ~v				; orig_rax = ~vector
	jmp irq_common
  %endif
  %assign v v + 1
%endrep

; ---- exceptions --------------------------------------------------------------------------------
align 16
page_fault_entry:
	IRQ_INSN site_fault_entry, INSN_ENTRY
	push rdi
	PUSH_REGS_AFTER_RDI
	cld
	test byte [rsp + CS], 3
	jz .kernel
	swapgs
.kernel:
	CLAC
	mov rdi, rsp
	sub rsp, 8
	call trap_page_fault
	jmp return_from_trap

; edi = vector, rdi pushed
trap_common:
	PUSH_REGS_AFTER_RDI
	cld
	test byte [rsp + CS], 3
	jz .kernel
	swapgs
.kernel:
	CLAC
.go:	mov rsi, rsp
	sub rsp, 8
	call trap_dispatch
	jmp return_from_trap

; edi = vector, rdi pushed, on an IST stack
paranoid_common:
	PUSH_REGS_AFTER_RDI
	cld
	CLAC
	mov ecx, 0xc0000101		; GS base found
	rdmsr
	shl rdx, 32
	or rax, rdx
	mov r14, rax
	mov rax, rsp
	and rax, -8192
	mov rax, [rax]			; this CPU's per-CPU offset
	mov rdx, rax
	shr rdx, 32
	wrmsr
	mov rsi, rsp
	sub rsp, 8
	call trap_paranoid
	add rsp, 8
	mov ecx, 0xc0000101
	mov rax, r14
	mov rdx, r14
	shr rdx, 32
	wrmsr
	POP_REGS
	add rsp, 8
	IRQ_INSN site_nmi, INSN_RETURN
	iretq

; A debug exception from user mode goes on with the thread's own stack (it will deliver a signal).
align 16
debug_entry:
	IRQ_INSN site_fault_entry, INSN_ENTRY
	push 0
	push rdi
	mov edi, 1
	test byte [rsp + 24], 3		; rdi, error, rip, cs
	jz paranoid_common
	swapgs
	mov rdi, rsp
	mov rsp, [gs:abs kernel_stack_top]
	push qword [rdi + 48]		; ss
	push qword [rdi + 40]		; rsp
	push qword [rdi + 32]		; rflags
	push qword [rdi + 24]		; cs
	push qword [rdi + 16]		; rip
	push qword [rdi + 8]		; error
	push qword [rdi]		; rdi
	mov edi, 1
	PUSH_REGS_AFTER_RDI
	cld
	CLAC
	jmp trap_common.go

%macro TRAP_STUB 3			; vector, has error code, common
align 16
trap_stub_%1:
	IRQ_INSN site_fault_entry, INSN_ENTRY
  %if %2 == 0
	push 0
  %endif
	push rdi
	mov edi, %1
	jmp %3
%endmacro

%assign v 0
%rep 32
  %if v == 2
	TRAP_STUB 2, 0, paranoid_common
  %elif v == 8
	TRAP_STUB 8, 1, paranoid_common
  %elif v == 18
	TRAP_STUB 18, 0, paranoid_common
  %elif v == 1 || v == 14
	; debug_entry, page_fault_entry
  %elif (v >= 10 && v <= 13) || v == 17 || v == 21 || v == 29 || v == 30
	TRAP_STUB v, 1, trap_common
  %else
	TRAP_STUB v, 0, trap_common
  %endif
  %assign v v + 1
%endrep

section .rodata progbits alloc noexec nowrite align=8
global trap_stubs, irq_stubs
trap_stubs:
%assign v 0
%rep 32
  %if v == 1
	dq debug_entry
  %elif v == 14
	dq page_fault_entry
  %else
	dq trap_stub_ %+ v
  %endif
  %assign v v + 1
%endrep
irq_stubs:
%assign v 0
%rep 256
  %if v < 32
	dq 0
  %else
	dq irq_stub_ %+ v
  %endif
  %assign v v + 1
%endrep
