/* SPDX-License-Identifier: BSD-2-Clause */
/* fcntl.h - numbers of the file system calls, as Linux x86-64 programs pass them. */
#ifndef FS_FCNTL_H
#define FS_FCNTL_H

/* open(2) */
#define O_ACCMODE 03
#define O_RDONLY 00
#define O_WRONLY 01
#define O_RDWR 02
#define O_CREAT 0100
#define O_EXCL 0200
#define O_NOCTTY 0400
#define O_TRUNC 01000
#define O_APPEND 02000
#define O_NONBLOCK 04000
#define O_DSYNC 010000
#define O_ASYNC 020000
#define O_DIRECT 040000
#define O_LARGEFILE 0100000
#define O_DIRECTORY 0200000
#define O_NOFOLLOW 0400000
#define O_NOATIME 01000000
#define O_CLOEXEC 02000000
#define O_SYNC 04010000
#define O_PATH 010000000
#define O_TMPFILE (020000000 | O_DIRECTORY)

/* st_mode */
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFLNK 0120000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define S_ISUID 04000
#define S_ISGID 02000
#define S_ISVTX 01000
#define S_IALLUGO 07777
#define S_ISREG(m) (((m)&S_IFMT) == S_IFREG)
#define S_ISDIR(m) (((m)&S_IFMT) == S_IFDIR)
#define S_ISLNK(m) (((m)&S_IFMT) == S_IFLNK)
#define S_ISCHR(m) (((m)&S_IFMT) == S_IFCHR)
#define S_ISBLK(m) (((m)&S_IFMT) == S_IFBLK)
#define S_ISFIFO(m) (((m)&S_IFMT) == S_IFIFO)
#define S_ISSOCK(m) (((m)&S_IFMT) == S_IFSOCK)

/* d_type: the file type bits of the mode */
#define DT_OF(mode) (((mode)&S_IFMT) >> 12)
#define DT_UNKNOWN 0
#define DT_DIR 4
#define DT_REG 8
#define DT_LNK 10

#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define SEEK_DATA 3
#define SEEK_HOLE 4

#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100
#define AT_EACCESS 0x200
#define AT_REMOVEDIR 0x200
#define AT_SYMLINK_FOLLOW 0x400
#define AT_NO_AUTOMOUNT 0x800
#define AT_EMPTY_PATH 0x1000
#define AT_STATX_SYNC_TYPE 0x6000

#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2

#define FALLOC_FL_KEEP_SIZE 1
#define FALLOC_FL_PUNCH_HOLE 2
#define FALLOC_FL_ZERO_RANGE 16

/* mount(2) */
#define MS_RDONLY 1u
#define MS_NOSUID 2u
#define MS_NODEV 4u
#define MS_NOEXEC 8u
#define MS_SYNCHRONOUS 16u
#define MS_REMOUNT 32u
#define MS_MANDLOCK 64u
#define MS_DIRSYNC 128u
#define MS_NOATIME 1024u
#define MS_NODIRATIME 2048u
#define MS_BIND 4096u
#define MS_MOVE 8192u
#define MS_REC 16384u
#define MS_SILENT 32768u
#define MS_UNBINDABLE (1u << 17)
#define MS_PRIVATE (1u << 18)
#define MS_SLAVE (1u << 19)
#define MS_SHARED (1u << 20)
#define MS_RELATIME (1u << 21)
#define MS_STRICTATIME (1u << 24)
#define MNT_FORCE 1
#define MNT_DETACH 2
#define MNT_EXPIRE 4
#define UMOUNT_NOFOLLOW 8

#define XATTR_CREATE 1
#define XATTR_REPLACE 2

/* Permission masks; also access(2)'s mode. */
#define MAY_EXEC 1
#define MAY_WRITE 2
#define MAY_READ 4

#define PATH_MAX 4096
#define NAME_MAX 255

#endif
