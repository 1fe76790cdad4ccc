; SPDX-License-Identifier: BSD-2-Clause
;
; trampoline.asm - the first page of code of an application processor: real mode -> long mode ->
; high half.
;
; smp.c copies [ap_trampoline, ap_trampoline_end) to a page below 1 MiB and fills the words at its
; end. The page is mapped executable only in the tables the processor starts with (ap_pgd) and is
; never writable there.

section .rodata progbits alloc noexec nowrite align=16
global ap_trampoline, ap_trampoline_end, ap_trampoline_data
bits 16
ap_trampoline:
	cli
	cld
	mov ax, cs
	mov ds, ax
	lgdt [gdt_ptr - ap_trampoline]
	mov eax, cr4
	or eax, 1 << 5			; PAE
	mov cr4, eax
	mov eax, [ap_cr3 - ap_trampoline]
	mov cr3, eax
	mov ecx, 0xc0000080		; EFER: LME, NXE, SCE
	rdmsr
	or eax, (1 << 8) | (1 << 11) | 1
	wrmsr
	mov eax, (1 << 31) | (1 << 16) | (1 << 5) | (1 << 4) | (1 << 1) | 1
	mov cr0, eax
	jmp far dword [ap_far - ap_trampoline]

bits 64
ap_long:
	xor eax, eax
	mov ds, eax
	mov es, eax
	mov fs, eax
	mov gs, eax
	mov eax, 0x18
	mov ss, eax
	mov rsp, [rel ap_stack]
	mov rax, [rel ap_percpu]
	mov rdx, rax
	shr rdx, 32
	mov ecx, 0xc0000101
	wrmsr
	mov edi, [rel ap_cpu]
	xor ebp, ebp
	mov rax, [rel ap_entry]
	jmp rax

align 16
gdt:
	dq 0
	dq 0
	dq 0x00af9b000000ffff
	dq 0x00cf93000000ffff
gdt_ptr:
	dw $ - gdt - 1
ap_trampoline_data:			; struct ap_data in smp.c
ap_gdt:		dd 0			; linear address of gdt
ap_far:		dd ap_long - ap_trampoline, 0x10
ap_cr3:		dd 0, 0
ap_stack:	dq 0
ap_percpu:	dq 0
ap_entry:	dq 0
ap_cpu:		dd 0
ap_gdt_offset:	dd gdt - ap_trampoline
ap_trampoline_end:

section .text progbits alloc exec nowrite align=16
bits 64
extern ap_main_c
global ap_start_high
ap_start_high:
	push 0
	push 0
	call ap_main_c
	ud2
