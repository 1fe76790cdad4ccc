/* SPDX-License-Identifier: BSD-2-Clause */
/* ext2.h - front door of fs/ext2: its type is mounted by name, so there is little to say. */
#ifndef FS_EXT2_EXT2_H
#define FS_EXT2_EXT2_H

/* fs/init.c: registers the type "ext2". */
void ext2_init(void);

#endif
