; SPDX-License-Identifier: BSD-2-Clause
;
; start.asm - from the loader's 32-bit protected mode to kernel_main() in the high half.
;
; Two loaders come here: GRUB (Multiboot2; on BIOS and on UEFI it hands over in the same state) and
; QEMU -kernel (PVH note). Both leave paging off and a physical pointer in ebx. The first page
; tables map the low 4 GiB by 2 MiB leaves three times: at 0 (only to survive the switch), at
; PAGE_OFFSET (to read what the loader left) and its first GiB at KERNEL_BASE. They are writable and
; executable and live until arch_early_init() has built the final tables.
;
; A failure here has no console yet: it sends one letter to COM1 and leaves QEMU with a failing
; status.
;   M  unknown loader     C  no CPUID leaf for 64 bit     L  no long mode     X  no execute-disable

%define MB2_MAGIC	0xe85250d6
%define MB2_BOOT_MAGIC	0x36d76289
%define PVH_MAGIC	0x336ec578
%define KIND_MULTIBOOT2	1
%define KIND_PVH	2

%define PTE_TABLE	0x003		; present, writable
%define PTE_LEAF2M	0x083

extern kernel_main
extern boot_loader_kind
extern boot_loader_info
extern boot_tsc

section .multiboot2 progbits alloc noexec nowrite align=8
mb2_header:
	dd MB2_MAGIC
	dd 0				; i386 protected mode
	dd mb2_end - mb2_header
	dd 0x100000000 - (MB2_MAGIC + (mb2_end - mb2_header))
	; No tags: the ELF headers say where to load, no framebuffer is wanted.
	dw 0, 0
	dd 8
mb2_end:

section .note.pvh note alloc noexec nowrite align=4
	dd 4				; name size
	dd 4				; descriptor size
	dd 18				; XEN_ELFNOTE_PHYS32_ENTRY
	db "Xen", 0
	dd pvh_start

section .boot.text progbits alloc exec nowrite align=16
bits 32
global _start
_start:
	cli
	cld
	mov esp, boot_stack32_end
	mov edi, KIND_MULTIBOOT2
	cmp eax, MB2_BOOT_MAGIC
	mov al, 'M'
	jne early_fail
	jmp have_loader

pvh_start:
	cli
	cld
	mov esp, boot_stack32_end
	mov edi, KIND_PVH
	cmp dword [ebx], PVH_MAGIC
	mov al, 'M'
	jne early_fail

have_loader:
	mov esi, ebx
	rdtsc
	mov [tsc_low], eax
	mov [tsc_high], edx

	mov eax, 0x80000000
	cpuid
	cmp eax, 0x80000001
	mov al, 'C'
	jb early_fail
	mov eax, 0x80000001
	cpuid
	mov al, 'L'
	bt edx, 29
	jnc early_fail
	mov al, 'X'
	bt edx, 20
	jnc early_fail

	; pml4[0] and pml4[PAGE_OFFSET] -> pdpt_low, pml4[511] -> pdpt_high[510] -> the first GiB
	mov eax, boot_pdpt_low + PTE_TABLE
	mov [boot_pml4], eax
	mov [boot_pml4 + 273 * 8], eax
	mov dword [boot_pml4 + 511 * 8], boot_pdpt_high + PTE_TABLE
	mov dword [boot_pdpt_high + 510 * 8], boot_pd + PTE_TABLE
	mov eax, boot_pd + PTE_TABLE
	xor ecx, ecx
.pdpt:	mov [boot_pdpt_low + ecx * 8], eax
	add eax, 4096
	inc ecx
	cmp ecx, 4
	jne .pdpt
	mov eax, PTE_LEAF2M
	xor ecx, ecx
.pd:	mov [boot_pd + ecx * 8], eax
	add eax, 0x200000
	inc ecx
	cmp ecx, 4 * 512
	jne .pd

	mov eax, cr4
	or eax, 1 << 5			; PAE
	mov cr4, eax
	mov eax, boot_pml4
	mov cr3, eax
	mov ecx, 0xc0000080		; EFER: LME, NXE, SCE
	rdmsr
	or eax, (1 << 8) | (1 << 11) | 1
	wrmsr
	mov eax, cr0			; PG, WP, NE, MP; no EM, no TS
	and eax, ~((1 << 2) | (1 << 3))
	or eax, (1 << 31) | (1 << 16) | (1 << 5) | (1 << 1) | 1
	mov cr0, eax
	lgdt [boot_gdt_ptr]
	jmp 0x10:in_long_mode

; al = letter
early_fail:
	mov ah, al
	mov dx, 0x3f8 + 5
	mov ecx, 100000			; a missing UART must not hang us
.wait:	in al, dx
	test al, 0x20
	jnz .send
	loop .wait
.send:	mov al, ah
	mov dx, 0x3f8
	out dx, al
	mov al, 10
	out dx, al
	mov dx, 0xf4			; isa-debug-exit: status 65
	mov eax, 0x20
	out dx, eax
.hang:	hlt
	jmp .hang

bits 64
in_long_mode:
	xor eax, eax
	mov ds, eax
	mov es, eax
	mov fs, eax
	mov gs, eax
	mov eax, 0x18
	mov ss, eax
	mov rax, start_high
	jmp rax

section .boot.data progbits alloc noexec write align=16
boot_gdt:
	dq 0
	dq 0
	dq 0x00af9b000000ffff		; 0x10 = KERNEL_CS
	dq 0x00cf93000000ffff		; 0x18 = KERNEL_DS
boot_gdt_ptr:
	dw $ - boot_gdt - 1
	dd boot_gdt
	dw 0
tsc_low:	dd 0
tsc_high:	dd 0

section .boot.bss nobits alloc noexec write align=4096
boot_pml4:	resb 4096
boot_pdpt_low:	resb 4096
boot_pdpt_high:	resb 4096
boot_pd:	resb 4 * 4096
boot_stack32:	resb 1024
boot_stack32_end:

section .text progbits alloc exec nowrite align=16
start_high:
	mov rsp, boot_stack_top
	xor ebp, ebp
	xor eax, eax			; per-CPU data of the boot CPU: GS base 0
	xor edx, edx
	mov ecx, 0xc0000101
	wrmsr
	mov ecx, 0xc0000100
	wrmsr
	mov [abs boot_loader_kind], edi
	mov [abs boot_loader_info], esi
	mov rax, tsc_low
	mov rax, [rax]
	mov [abs boot_tsc], rax
	push 0				; end of backtraces
	push 0
	call kernel_main
	ud2

section .bss nobits alloc noexec write align=4096
global boot_stack
global boot_stack_top
boot_stack:	resb 16384
boot_stack_top:
