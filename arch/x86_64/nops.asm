; SPDX-License-Identifier: BSD-2-Clause
;
; nops.asm - a stretch of code of known length, for checking clocks and tracers.
;
; arch_run_nops(n): executes n + 9 instructions, whatever n is. 64 per turn of the loop (62 nops,
; the decrement and the branch), the rest by a jump into a row of nops.

section .text progbits alloc exec nowrite align=64

global arch_run_nops
arch_run_nops:
	mov rcx, rdi
	and edi, 63
	shr rcx, 6
	jz .rest
.turn:
	times 62 nop
	dec rcx
	jnz .turn
.rest:	lea rax, [rel .end]
	sub rax, rdi
	jmp rax
	times 63 nop
.end:	xor eax, eax
	ret
