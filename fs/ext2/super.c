// SPDX-License-Identifier: BSD-2-Clause
/*
 * super.c - ext2 file systems: mounting, options, what to do about damage, the last umount.
 *
 * The superblock and the group descriptors stay in memory while mounted, as held blocks of the
 * device's cache; they are judged once, at mount. While mounted for writing the bit "cleanly
 * unmounted" is off on the disk; it comes back at the end if it was there at the start and no
 * damage was met. Counts in the superblock are brought up to date by sync and at the end.
 *
 * Damage: whoever meets it calls ext2_error, which prints one line, marks the file system, and then
 * goes on, makes it read-only, or stops the machine (errors=). Many lines in a short time are
 * counted instead of printed.
 */
#include "fs/ext2/ext2.h"
#include "fs/ext2/internal.h"
#include "lib/parse.h"
#include "lib/printf.h"
#include "mm/kmem/vmalloc.h"

#define COMPLAINTS 25 /* lines about damage per file system and ... */
#define COMPLAIN_NS (10 * NSEC_PER_SEC)

/* ---- damage ---- */

/* May one more line be printed? */
static bool may_complain(struct ext2_fs *fs)
{
	u64 now = ktime_get();
	int n;

	if (now - READ_ONCE(fs->complain_since) > COMPLAIN_NS) {
		fs->complain_since = now;
		n = atomic_xchg(&fs->complaints, 0);
		if (n > COMPLAINTS)
			pr_warn("ext2 (%s): %d more lines like these", fs->bdev->part->name,
				n - COMPLAINTS);
	}
	return atomic_add_return(1, &fs->complaints) <= COMPLAINTS;
}

int ext2_error(struct superblock *sb, const char *fmt, ...)
{
	struct ext2_fs *fs = ext2_fs(sb);
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (may_complain(fs))
		pr_err("ext2 (%s): %s", fs->bdev->part->name, text);
	if (sb->flags & MS_RDONLY)
		return -EUCLEAN;
	fs->mount_state |= EXT2_ERROR_FS;
	fs->super->s_state |= EXT2_ERROR_FS;
	fs->super_dirty = true;
	bblock_dirty(&fs->super_block);
	if (fs->errors == EXT2_ERRORS_PANIC)
		panic("ext2 (%s): %s (errors=panic)", fs->bdev->part->name, text);
	if (fs->errors == EXT2_ERRORS_RO) {
		pr_err("ext2 (%s): now read-only (errors=remount-ro)", fs->bdev->part->name);
		sb->flags |= MS_RDONLY;
	}
	return -EUCLEAN;
}

/* ---- the superblock on the disk ---- */

static u32 now_seconds(void)
{
	return ktime_get_real() / NSEC_PER_SEC;
}

/* => 0 or -EIO when wait */
static int write_super(struct ext2_fs *fs, bool wait)
{
	struct ext2_super *s = fs->super;

	mutex_lock(&fs->alloc_lock);
	s->s_free_blocks_count = atomic_long_read(&fs->free_blocks);
	s->s_free_inodes_count = atomic_long_read(&fs->free_inodes);
	s->s_wtime = now_seconds();
	fs->super_dirty = false;
	mutex_unlock(&fs->alloc_lock);
	bblock_dirty(&fs->super_block);
	return wait ? bblock_sync(fs->bdev, 1, 1, 1024) : 0;
}

/* Fields of revision 1 are needed: the file system becomes one. => alloc_lock */
static void raise_revision_locked(struct ext2_fs *fs)
{
	struct ext2_super *s = fs->super;

	if (s->s_rev_level)
		return;
	pr_notice("ext2 (%s): revision 0 becomes revision 1, a feature needs it",
		  fs->bdev->part->name);
	s->s_rev_level = 1;
	s->s_first_ino = 11;
	s->s_inode_size = 128;
}

void ext2_need_large_file(struct ext2_fs *fs)
{
	if (likely(fs->geo.ro_compat & EXT2_RO_LARGE_FILE))
		return;
	mutex_lock(&fs->alloc_lock);
	raise_revision_locked(fs);
	fs->super->s_feature_ro_compat |= EXT2_RO_LARGE_FILE;
	fs->geo.ro_compat |= EXT2_RO_LARGE_FILE;
	mutex_unlock(&fs->alloc_lock);
	write_super(fs, false);
}

/* From now on this mount writes: the disk says so first. 0 or -EIO */
static int start_writing(struct ext2_fs *fs)
{
	struct ext2_super *s = fs->super;
	const char *name = fs->bdev->part->name;

	fs->mount_state = s->s_state;
	if (!(s->s_state & EXT2_VALID_FS))
		pr_warn("ext2 (%s): not cleanly unmounted: e2fsck is recommended", name);
	else if (s->s_state & EXT2_ERROR_FS)
		pr_warn("ext2 (%s): marked as damaged: e2fsck is recommended", name);
	else if ((s16)s->s_max_mnt_count > 0 && s->s_mnt_count >= s->s_max_mnt_count)
		pr_warn("ext2 (%s): mounted %u times since it was checked: e2fsck is recommended",
			name, s->s_mnt_count);
	else if (s->s_checkinterval && s->s_lastcheck + s->s_checkinterval <= now_seconds())
		pr_warn("ext2 (%s): not checked for long: e2fsck is recommended", name);
	s->s_state &= ~EXT2_VALID_FS;
	if (!s->s_max_mnt_count)
		s->s_max_mnt_count = 20;
	s->s_mnt_count++;
	s->s_mtime = now_seconds();
	fs->writing = true;
	return write_super(fs, true);
}

static int stop_writing(struct ext2_fs *fs)
{
	if (!fs->writing)
		return 0;
	ext2_drop_windows(fs);
	fs->writing = false;
	fs->super->s_state = fs->mount_state;
	return write_super(fs, true);
}

/* ---- superblock operations ---- */

static int statfs(struct superblock *sb, struct kstatfs *out)
{
	struct ext2_fs *fs = ext2_fs(sb);
	u64 bfree = atomic_long_read(&fs->free_blocks) + atomic_long_read(&fs->window_blocks);

	out->type = EXT2_MAGIC;
	out->bsize = fs->geo.block_size;
	out->blocks = fs->geo.blocks - (fs->minixdf ? 0 : fs->overhead);
	out->bfree = bfree;
	out->bavail = bfree > fs->geo.reserved ? bfree - fs->geo.reserved : 0;
	out->files = fs->geo.inodes;
	out->ffree = atomic_long_read(&fs->free_inodes);
	out->namelen = EXT2_NAME_LEN;
	return 0;
}

/* Files have been written; the caller writes the device's pages after this. */
static int sync_fs(struct superblock *sb, int wait)
{
	struct ext2_fs *fs = ext2_fs(sb);

	if (!fs->writing)
		return 0;
	ext2_drop_windows(fs);
	return READ_ONCE(fs->super_dirty) ? write_super(fs, false) : 0;
}

static void free_fs(struct ext2_fs *fs)
{
	for (u32 i = 0; fs->descs && i < fs->geo.desc_blocks; i++)
		bblock_put(&fs->descs[i]);
	bblock_put(&fs->super_block);
	kvfree(fs->descs);
	kvfree(fs->group);
	kfree(fs);
}

static void kill_fs(struct superblock *sb)
{
	struct ext2_fs *fs = ext2_fs(sb);

	if (stop_writing(fs))
		pr_err("ext2 (%s): the superblock cannot be written", fs->bdev->part->name);
	free_fs(fs);
}

static void show_options(struct superblock *sb, struct seq *seq)
{
	static const char *const errors[] = { "", "continue", "remount-ro", "panic" };
	struct ext2_fs *fs = ext2_fs(sb);

	if (fs->errors != fs->super->s_errors)
		seq_printf(seq, ",errors=%s", errors[fs->errors]);
	if (fs->minixdf)
		seq_puts(seq, ",minixdf");
	if (fs->grpid)
		seq_puts(seq, ",grpid");
	if (fs->resuid != fs->super->s_def_resuid)
		seq_printf(seq, ",resuid=%u", fs->resuid);
	if (fs->resgid != fs->super->s_def_resgid)
		seq_printf(seq, ",resgid=%u", fs->resgid);
}

/* ---- options ---- */

struct options {
	u32 errors, resuid, resgid;
	bool minixdf, grpid;
};

static int parse_errors(const char *value, u32 *out)
{
	if (!value)
		return -EINVAL;
	if (!strcmp(value, "continue"))
		*out = EXT2_ERRORS_CONTINUE;
	else if (!strcmp(value, "remount-ro"))
		*out = EXT2_ERRORS_RO;
	else if (!strcmp(value, "panic"))
		*out = EXT2_ERRORS_PANIC;
	else
		return -EINVAL;
	return 0;
}

static int parse_one(struct options *o, const char *name, const char *value)
{
	static const char *const accepted[] = {
		/* nothing to do here, or always so */
		"nocheck", "check",	    "debug",	  "orlov",	  "oldalloc", "reservation",
		"nobh",	   "noreservation", "user_xattr", "nouser_xattr", "acl",      "noacl"
	};

	if (!strcmp(name, "errors"))
		return parse_errors(value, &o->errors);
	if (!strcmp(name, "resuid"))
		return value ? parse_u32(value, &o->resuid) : -EINVAL;
	if (!strcmp(name, "resgid"))
		return value ? parse_u32(value, &o->resgid) : -EINVAL;
	if (!strcmp(name, "minixdf") || !strcmp(name, "bsddf")) {
		o->minixdf = name[0] == 'm';
		return value ? -EINVAL : 0;
	}
	if (!strcmp(name, "grpid") || !strcmp(name, "bsdgroups") || !strcmp(name, "nogrpid") ||
	    !strcmp(name, "sysvgroups")) {
		o->grpid = name[0] == 'g' || name[0] == 'b';
		return value ? -EINVAL : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(accepted); i++)
		if (!strcmp(name, accepted[i]))
			return 0;
	return -EINVAL;
}

static int parse_options(struct options *o, const char *data)
{
	char *copy = data ? kstrdup(data, GFP_KERNEL) : NULL, *rest = copy, *name, *value;
	int err = 0;

	if (data && !copy)
		return -ENOMEM;
	while (!err && mount_option(&rest, &name, &value)) {
		err = parse_one(o, name, value);
		if (err)
			pr_warn("ext2: bad mount option %s%s%s", name, value ? "=" : "",
				value ? value : "");
	}
	kfree(copy);
	return err;
}

static void use_options(struct ext2_fs *fs, const struct options *o)
{
	fs->errors = o->errors;
	fs->resuid = o->resuid;
	fs->resgid = o->resgid;
	fs->minixdf = o->minixdf;
	fs->grpid = o->grpid;
}

static int remount(struct superblock *sb, u32 flags, const char *data)
{
	struct ext2_fs *fs = ext2_fs(sb);
	struct options o = { fs->errors, fs->resuid, fs->resgid, fs->minixdf, fs->grpid };
	int err = parse_options(&o, data);

	if (err)
		return err;
	if ((flags & MS_RDONLY) && fs->writing) {
		err = super_sync(sb, 1);
		if (!err)
			err = stop_writing(fs);
	} else if (!(flags & MS_RDONLY) && (sb->flags & MS_RDONLY)) {
		u32 unknown = fs->geo.ro_compat & ~EXT2_RO_KNOWN;

		if (unknown) {
			pr_err("ext2 (%s): features known only for reading: "
			       "s_feature_ro_compat 0x%x",
			       fs->bdev->part->name, fs->geo.ro_compat);
			return -EROFS;
		}
		if (!fs->writing)
			err = start_writing(fs);
	}
	if (!err)
		use_options(fs, &o);
	return err;
}

/* ---- mounting ---- */

static int read_super(struct ext2_fs *fs, u32 flags)
{
	struct bdev *bdev = fs->bdev;
	char why[200];
	int err = bblock_read(bdev, 1, 1024, &fs->super_block);

	if (err) {
		if (err == -EFBIG) /* a device of less than two kilobytes: quietly no ext2 */
			return -EINVAL;
		pr_err("ext2 (%s): the superblock cannot be read (error %d)", bdev->part->name,
		       -err);
		return err;
	}
	fs->super = fs->super_block.data;
	err = ext2_check_super(fs->super, bdev->part->nr_sectors << SECTOR_SHIFT, &fs->geo, why,
			       sizeof(why));
	if (err == -EROFS && (flags & MS_RDONLY))
		return 0;
	if (err && (fs->super->s_magic == EXT2_MAGIC || !(flags & MS_SILENT)))
		pr_err("ext2 (%s): %s", bdev->part->name, why);
	return err;
}

/* The descriptors, judged; sums over them. */
static int read_groups(struct ext2_fs *fs)
{
	const struct ext2_geometry *g = &fs->geo;
	u64 blocks = 0, inodes = 0, dirs = 0;
	char why[120];

	fs->descs = kvmalloc(g->desc_blocks * sizeof(*fs->descs), GFP_KERNEL | __GFP_ZERO);
	fs->group = kvmalloc(g->groups * sizeof(*fs->group), GFP_KERNEL | __GFP_ZERO);
	if (!fs->descs || !fs->group)
		return -ENOMEM;
	memset(fs->descs, 0, g->desc_blocks * sizeof(*fs->descs));
	memset(fs->group, 0, g->groups * sizeof(*fs->group));
	for (u32 i = 0; i < g->desc_blocks; i++) {
		int err =
			bblock_read(fs->bdev, ext2_desc_block(g, i), g->block_size, &fs->descs[i]);

		if (err) {
			pr_err("ext2 (%s): descriptor block %u cannot be read (error %d)",
			       fs->bdev->part->name, ext2_desc_block(g, i), -err);
			return err;
		}
	}
	fs->overhead = g->first_block;
	for (u32 i = 0; i < g->groups; i++) {
		const struct ext2_group_desc *d = ext2_desc(fs, i);

		if (ext2_check_group(g, i, d, why, sizeof(why))) {
			pr_err("ext2 (%s): %s", fs->bdev->part->name, why);
			return -EUCLEAN;
		}
		blocks += d->bg_free_blocks_count;
		inodes += d->bg_free_inodes_count;
		dirs += d->bg_used_dirs_count;
		fs->overhead += ext2_group_head_blocks(g, i, 0) + 2 + g->itable_blocks;
	}
	atomic_long_set(&fs->free_blocks, blocks);
	atomic_long_set(&fs->free_inodes, inodes);
	atomic_long_set(&fs->nr_dirs, dirs);
	return 0;
}

static struct options default_options(const struct ext2_fs *fs)
{
	struct options o = { .errors = fs->super->s_errors,
			     .resuid = fs->super->s_def_resuid,
			     .resgid = fs->super->s_def_resgid };

	if (o.errors < EXT2_ERRORS_CONTINUE || o.errors > EXT2_ERRORS_PANIC)
		o.errors = EXT2_ERRORS_CONTINUE;
	return o;
}

static int fill_fs(struct ext2_fs *fs, struct superblock *sb, u32 flags, const char *data)
{
	struct options o;
	int err = read_super(fs, flags);

	if (!err)
		err = read_groups(fs);
	if (err)
		return err;
	o = default_options(fs);
	err = parse_options(&o, data);
	if (err)
		return err;
	use_options(fs, &o);
	fs->mount_state = fs->super->s_state;
	fs->mpage = (struct mpage_fs){ .part = fs->bdev->part,
				       .get_block = ext2_get_block,
				       .block_bits = fs->geo.block_bits };
	sb->private = fs;
	sb->statfs = statfs;
	sb->evict_inode = ext2_evict;
	sb->sync = sync_fs;
	sb->kill = kill_fs;
	sb->remount = remount;
	sb->show_options = show_options;
	return 0;
}

/* The root directory; from here on the superblock can end by itself. */
static int fill_root(struct superblock *sb)
{
	struct inode *root = ext2_iget(sb, EXT2_ROOT_INO);
	int err = IS_ERR(root) ? PTR_ERR(root) : 0;

	if (!err && !S_ISDIR(root->mode)) {
		err = ext2_error(sb, "the root inode is no directory (i_mode 0%o)", root->mode);
		inode_put(root);
	}
	if (err) {
		kfree(sb);
		return err;
	}
	return super_set_root(sb, root);
}

static struct superblock *mount(const struct fs_type *t, const char *source, u32 flags,
				const char *data)
{
	struct superblock *sb = super_new(t, flags, source);
	struct ext2_fs *fs = kzalloc(sizeof(*fs), GFP_KERNEL);
	struct bdev *bdev = NULL;
	int err;

	if (IS_ERR(sb) || !fs) {
		err = -ENOMEM;
		goto fail;
	}
	err = super_bdev(source, flags, sb, &bdev);
	if (err)
		goto fail;
	sb->bdev = fs->bdev = bdev;
	sb->dev = bdev->part->dev;
	fs->sb = sb;
	mutex_init(&fs->alloc_lock, RANK_FS_ALLOC, "ext2 alloc");
	list_init(&fs->windows);
	fs->next_generation = now_seconds();
	err = fill_fs(fs, sb, flags, data);
	if (!err && !(flags & MS_RDONLY))
		err = start_writing(fs);
	if (!err) {
		void *holder = sb;

		err = fill_root(sb); /* frees sb when it fails */
		if (!err)
			return sb;
		sb = NULL;
		fs->sb = NULL;
		if (fs->writing)
			stop_writing(fs);
		free_fs(fs);
		bdev_put(bdev, holder);
		return ERR_PTR(err);
	}
fail:
	if (fs)
		free_fs(fs);
	if (bdev)
		bdev_put(bdev, sb);
	if (!IS_ERR(sb))
		kfree(sb);
	return ERR_PTR(err);
}

static struct fs_type ext2_type = { .name = "ext2", .mount = mount };

void ext2_init(void)
{
	fs_type_register(&ext2_type);
}
