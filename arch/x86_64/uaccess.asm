; SPDX-License-Identifier: BSD-2-Clause
;
; uaccess.asm - copies to and from a program's memory (contract: arch/uaccess.h).
;
; Every instruction that touches user memory has an .extable entry. The bulk copies move quadwords,
; then the odd bytes; a fault in the quadword part goes on bytewise, so that the count of bytes not
; copied is exact to the byte.

%include "arch/x86_64/asm.inc"

%define USER_TOP 0x00007ffffffff000
%define EFAULT -14

section .text progbits alloc exec nowrite align=16

; range check of pointer %1, length rdx; clobbers rax, rcx
%macro CHECK_RANGE 1
	mov rax, USER_TOP
	sub rax, rdx			; n > USER_TOP borrows
	jb .bad
	cmp %1, rax
	ja .bad
%endmacro

; size_t copy_{from,to}_user(to = rdi, from = rsi, n = rdx): bytes not copied
%macro USER_COPY 2
global %1
align 16
%1:
	CHECK_RANGE %2
	mov ecx, edx
	and ecx, 7
	mov rax, rcx
	mov rcx, rdx
	shr rcx, 3
	STAC
.words:	rep movsq
	mov ecx, eax
.bytes:	rep movsb
	CLAC
	xor eax, eax
	ret
.words_fault:				; rcx quadwords and rax bytes are left
	lea rcx, [rax + rcx * 8]
	jmp .bytes
.bytes_fault:
	CLAC
	mov rax, rcx
	ret
.bad:	mov rax, rdx
	ret
EXTABLE .words, .words_fault
EXTABLE .bytes, .bytes_fault
%endmacro

USER_COPY copy_from_user, rsi
USER_COPY copy_to_user, rdi

; size_t clear_user(to = rdi, n = rsi)
global clear_user
align 16
clear_user:
	mov rdx, rsi
	CHECK_RANGE rdi
	mov rcx, rdx
	shr rcx, 3
	and edx, 7
	xor eax, eax
	STAC
.words:	rep stosq
	mov ecx, edx
.bytes:	rep stosb
	CLAC
	ret
.words_fault:
	lea rcx, [rdx + rcx * 8]
	jmp .bytes
.bytes_fault:
	CLAC
	mov rax, rcx
	ret
.bad:	mov rax, rdx
	ret
EXTABLE .words, .words_fault
EXTABLE .bytes, .bytes_fault

; ssize_t strncpy_from_user(to = rdi, from = rsi, n = rdx): length without NUL, n when there is
; none, -EFAULT
global strncpy_from_user
align 16
strncpy_from_user:
	mov r8, USER_TOP
	cmp rsi, r8
	jae .bad
	sub r8, rsi			; bytes up to the end of user space
	xor ecx, ecx
	STAC
.loop:	cmp rcx, rdx
	je .done
	cmp rcx, r8
	je .fault
.load:	mov al, [rsi + rcx]
	mov [rdi + rcx], al
	test al, al
	jz .done
	inc rcx
	jmp .loop
.done:	CLAC
	mov rax, rcx
	ret
.fault:	CLAC
.bad:	mov rax, EFAULT
	ret
EXTABLE .load, .fault

%macro GET_USER 3			; name, register, bytes: (to = rdi, from = rsi)
global %1
align 16
%1:
	mov rcx, USER_TOP - %3
	cmp rsi, rcx
	ja .bad
	STAC
.load:	mov %2, [rsi]
	CLAC
	mov [rdi], %2
	xor eax, eax
	ret
.fault:	CLAC
.bad:	mov eax, EFAULT
	ret
EXTABLE .load, .fault
%endmacro
GET_USER get_user_u32, edx, 4
GET_USER get_user_u64, rdx, 8

%macro PUT_USER 3			; name, register, bytes: (v = rdi, to = rsi)
global %1
align 16
%1:
	mov rcx, USER_TOP - %3
	cmp rsi, rcx
	ja .bad
	STAC
.store:	mov [rsi], %2
	CLAC
	xor eax, eax
	ret
.fault:	CLAC
.bad:	mov eax, EFAULT
	ret
EXTABLE .store, .fault
%endmacro
PUT_USER put_user_u32, edi, 4
PUT_USER put_user_u64, rdi, 8

; int cmpxchg_user_u32(p = rdi, expected = esi, desired = edx, old = rcx)
global cmpxchg_user_u32
align 16
cmpxchg_user_u32:
	mov r8, USER_TOP - 4
	cmp rdi, r8
	ja .bad
	mov eax, esi
	STAC
.swap:	lock cmpxchg [rdi], edx
	CLAC
	mov [rcx], eax
	xor eax, eax
	ret
.fault:	CLAC
.bad:	mov eax, EFAULT
	ret
EXTABLE .swap, .fault
