/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * internal.h - what the files of fs/ext2 share.
 *
 * Locks: (A) fs->alloc_lock  (B) info->map_lock  (p) info->window_lock  (I) inode->lock
 * (a) atomic  (o) set at mount
 *
 * Order: inode->lock, truncate_lock, page lock, map_lock, alloc_lock; window_lock inside all.
 */
#ifndef FS_EXT2_INTERNAL_H
#define FS_EXT2_INTERNAL_H

#include "fs/blkdev.h"
#include "fs/ext2/dirindex.h"
#include "fs/ext2/format.h"
#include "fs/internal.h"
#include "fs/mpage.h"
#include "lib/bitmap.h"
#include "lib/math.h"
#include "mm/cache/writeback.h"
#include "mm/kmem/slab.h"

struct ext2_group {	 /* what is known of a group beside its descriptor */
	u32 block_hint;	 /* (A) no free block before this bit */
	u32 inode_hint;	 /* (A) no free inode before this bit */
	u8 blocks_state; /* (A) GROUP_* of its block bitmap */
	u8 inodes_state; /* (A) of its inode bitmap */
};
enum { GROUP_UNSEEN, GROUP_GOOD, GROUP_BAD };

struct ext2_fs {
	struct superblock *sb;
	struct bdev *bdev;
	struct ext2_geometry geo; /* (o) */
	struct mpage_fs mpage;	  /* (o) */
	struct bblock super_block;
	struct ext2_super *super; /* within super_block (A) */
	struct bblock *descs;	  /* the descriptor blocks (A) */
	struct ext2_group *group; /* (A) one per group */
	struct mutex alloc_lock;  /* RANK_FS_ALLOC: bitmaps, descriptors, superblock */
	atomic_long_t free_blocks, free_inodes, nr_dirs;
	atomic_long_t window_blocks; /* free for everybody, but set aside in bitmaps */
	struct list_head windows;    /* (A) inodes with blocks set aside */
	u32 overhead;		     /* (o) blocks of superblocks, descriptors, bitmaps, tables */
	u32 errors;		     /* EXT2_ERRORS_* */
	u32 resuid, resgid;	     /* who may use the reserved blocks beside root */
	u16 mount_state;	     /* s_state before this mount wrote to it */
	bool minixdf, grpid;	     /* options */
	bool writing;		     /* this mount has marked the file system as in use */
	bool super_dirty;	     /* (A) counts changed since the superblock was filled in */
	u64 complain_since;	     /* ns; lines about damage are counted from here */
	atomic_t complaints;
	u32 next_generation;
	struct slab_cache *infos;
};

#define META_SLOTS 15u
/* inode->info: what an ext2 inode has beyond the VFS's. */
struct ext2_info {
	struct inode *inode;
	u32 data[EXT2_NBLOCKS]; /* (B) i_block; of a short symbolic link: its text */
	u32 blocks;		/* (B) i_blocks, of 512 bytes */
	u32 flags;		/* (I) i_flags */
	u32 generation, file_acl, group;
	bool fresh;	       /* never written: the record on the disk is zeroed first */
	bool in_list;	       /* (A) on fs->windows */
	struct mutex map_lock; /* RANK_FS_MAP */
	/* the indirect block used last: file blocks [leaf_first, leaf_first + ptrs) (B) */
	struct bblock leaf;
	u64 leaf_first;
	u64 high;	/* (B) no block of the file at or behind this one was given a home */
	u64 goal_file;	/* (B) block of the file that comes next in sequence */
	u32 goal_disk;	/* (B) and the best place for it */
	u32 run_length; /* (B) how many to set aside the next time */
	/* blocks set aside for this file: marked in the bitmap, not yet in the map */
	spinlock_t window_lock;
	u32 window_start, window_count; /* (p) */
	struct list_head window_node;	/* (A) */
	/* indirect blocks changed since the last fsync (B); meta_all: more than could be noted */
	u32 *meta, meta_last, nr_meta, max_meta;
	bool meta_all;
	/* directories (I) */
	struct ext2_dirindex *index;
	u64 hint_pos;  /* an entry with hint_room bytes behind its name, or unused */
	u32 hint_room; /* 0: unknown */
	u64 entry_pos; /* of a directory: where its name is in its parent; 0: not looked up yet */
};

static inline struct ext2_fs *ext2_fs(const struct superblock *sb)
{
	return sb->private;
}
static inline struct ext2_info *ext2_info(const struct inode *inode)
{
	return inode->info;
}
static inline struct inode *ext2_owner(const struct mapping *m)
{
	return m->owner;
}
static inline struct ext2_group_desc *ext2_desc(struct ext2_fs *fs, u32 group)
{
	u32 block = group / fs->geo.desc_per_block;

	return (struct ext2_group_desc *)fs->descs[block].data + group % fs->geo.desc_per_block;
}
static inline void ext2_mark(struct inode *inode, u32 what)
{
	if ((READ_ONCE(inode->data.dirty) & what) != what)
		inode_mark_dirty(inode, what);
}
#define EXT2_ATTR MAPD_META
#define EXT2_MAP (MAPD_META | MAPD_DATASYNC)

/* super.c */
/* Damage was met: one line, the errors= policy. => -EUCLEAN; may not return (errors=panic) */
int ext2_error(struct superblock *sb, const char *fmt, ...) __printf_like(2, 3);
#define ext2_inode_error(inode, fmt, ...)                                                          \
	ext2_error((inode)->sb, "inode %llu: " fmt, (unsigned long long)(inode)->ino, ##__VA_ARGS__)
/* A file will be larger than 2 GiB: the superblock says so. */
void ext2_need_large_file(struct ext2_fs *fs);
static inline bool ext2_read_only(const struct ext2_fs *fs)
{
	return READ_ONCE(fs->sb->flags) & MS_RDONLY;
}

/* balloc.c */
/*
 * Takes up to *count blocks that lie together, at or near goal (0: anywhere in the inode's group).
 * => map_lock; *first, *count; -ENOSPC, -EIO, -EUCLEAN, -EROFS
 */
int ext2_take_blocks(struct inode *inode, u32 goal, u32 *first, u32 *count);
/* Back into the bitmaps. 0 or -EUCLEAN (some were free already, or are no file's) */
int ext2_free_blocks(struct ext2_fs *fs, u64 owner, u32 first, u32 count);
void ext2_drop_window(struct inode *inode); /* gives what was set aside back */
void ext2_drop_windows(struct ext2_fs *fs); /* of all inodes */
/* May a file's block map name these blocks? (not outside, not bitmaps or inode tables) */
bool ext2_blocks_ok(struct ext2_fs *fs, u32 first, u32 count);
void ext2_desc_dirty(struct ext2_fs *fs, u32 group);

/* ialloc.c */
/* A new inode for a name in dir, in memory and in the bitmap; nlink 1 (2), not dirty. ERR_PTR */
struct inode *ext2_new_inode(struct inode *dir, umode_t mode, dev_t dev);
void ext2_free_inode(struct inode *inode);

/* map.c */
int ext2_get_block(struct mapping *m, u64 block, u32 want, int create, struct block_run *run);
void ext2_leaf_drop_locked(struct ext2_info *info);
/* An indirect block of the inode was changed. => map_lock */
void ext2_meta_dirty(struct ext2_info *info, struct bblock *b);
int ext2_meta_sync(struct inode *inode);

/* cut.c */
/* Frees blocks [from, to) of the file; its pages are gone. 0 or the first error */
int ext2_cut(struct inode *inode, u64 from, u64 to);
void ext2_cut_beyond_end(struct inode *inode); /* homes given for a write that then failed */

/* inode.c */
struct inode *ext2_iget(struct superblock *sb, u32 ino);
/* Everything that follows from inode->mode; info must be set. */
void ext2_inode_ops(struct inode *inode);
int ext2_info_init(struct inode *inode);
void ext2_info_free(struct inode *inode);
void ext2_evict(struct inode *inode);
int ext2_write_owner(struct mapping *m, struct writeback_control *wbc);
int ext2_setattr(struct inode *inode, const struct kstat *attr, unsigned int mask);
int ext2_getattr(struct inode *inode, struct kstat *st);
int ext2_sync_inode(struct inode *inode, int datasync);
int ext2_inode_place(struct ext2_fs *fs, u32 ino, u32 *block, u32 *off);

/* dir.c, dirread.c */
struct ext2_slot { /* one entry, held */
	struct page *page;
	struct ext2_dirent *de;
	u64 pos; /* byte offset in the directory */
};
void ext2_slot_put(struct ext2_slot *slot);
/* 0, -ENOENT, -EUCLEAN, -EIO. => dir's lock */
int ext2_dir_find(struct inode *dir, const char *name, u32 len, struct ext2_slot *out);
int ext2_dir_add(struct inode *dir, const char *name, u32 len, struct inode *inode, u64 *pos);
int ext2_dir_remove(struct inode *dir, struct ext2_slot *slot);
void ext2_dir_set(struct inode *dir, struct ext2_slot *slot, struct inode *inode);
int ext2_dir_make(struct inode *inode, u32 parent); /* "." and ".." */
int ext2_dir_dotdot(struct inode *dir, struct ext2_slot *out);
int ext2_dir_empty(struct inode *dir); /* 1, 0 or -errno */
int ext2_dir_iterate(struct file *f, struct dir_context *ctx);

/* namei.c, file.c */
extern const struct inode_ops ext2_dir_iops, ext2_file_iops, ext2_link_iops, ext2_special_iops;
extern const struct file_ops ext2_dir_fops, ext2_file_fops;
extern const struct mapping_ops ext2_mapping_ops;

#endif
