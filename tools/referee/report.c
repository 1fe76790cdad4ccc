/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.c - the referee's figures as a text file: lines that begin with # say what it is, then one
 * line per site and vCPU that had a section there, columns named by the header.
 */
#include "referee.h"
#include <inttypes.h>
#include <stdio.h>

static const char *label(const struct image *image, int site)
{
	return site < 0 ? "?" : image->sites[site].label;
}

static void print_line(FILE *f, const struct image *image, unsigned int site, unsigned int cpu,
		       const struct site_stat *s)
{
	const struct site *where = &image->sites[site];

	fprintf(f, "%-24s %-28s %s:%u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s", where->label,
		where->func, where->file, where->line, cpu, s->sections, s->total, s->max,
		label(image, s->end));
	fprintf(f,
		" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64
		" %" PRIu64,
		s->all_total, s->all_max, s->traced, s->clock_total, s->clock_max, s->diff_min,
		s->diff_max, s->unseen);
	for (unsigned int k = 0; k < BUCKETS; k++)
		if (s->hist[k])
			fprintf(f, " %u:%" PRIu64, k, s->hist[k]);
	fputc('\n', f);
}

static void print_unlisted(const struct spot *spot, void *arg)
{
	static const char *const names[] = {
		[SPOT_OFF] = "cli", [SPOT_ON] = "sti", [SPOT_RETURN] = "iret or sysret"
	};

	if (spot->unlisted && spot->executed)
		fprintf(arg, "# unlisted: %s at %#" PRIx64 ", executed %" PRIu64 " times\n",
			names[spot->kind], spot->addr, spot->executed);
}

int report_write(const char *path, const char *image_path, const struct image *image,
		 const struct vcpu *vcpus, unsigned int nr_vcpus, const struct oddities *odd,
		 const char *counting)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		perror(path);
		return -1;
	}
	fprintf(f, "# referee: interrupts-off sections, in instructions of the vCPU itself\n");
	fprintf(f, "# image: %s: %u sites, %u instructions and entries\n", image_path,
		image->nr_sites, image->nr_insns);
	fprintf(f, "# vcpus: %u, counted %s\n", nr_vcpus, counting);
	for (unsigned int cpu = 0; cpu < nr_vcpus; cpu++)
		fprintf(f, "# cpu %u: executed %" PRIu64 " off %" PRIu64 " sections %" PRIu64 "\n",
			cpu, vcpus[cpu].executed, vcpus[cpu].off, vcpus[cpu].sections);
	fprintf(f,
		"# oddities: unlisted %" PRIu64 " mismatched %" PRIu64 " popf %" PRIu64
		" unknown_gates %u nested %" PRIu64 " on_in_nested %" PRIu64 "\n",
		odd->unlisted, odd->mismatched, odd->popf, image->unknown_gates, odd->nested,
		odd->on_in_nested);
	spot_each(print_unlisted, f);
	fprintf(f, "# histogram k:n = n sections of 2^k..2^(k+1)-1\n");
	fprintf(f, "# columns: label function place cpu sections total max end all_total all_max "
		   "traced clock_total clock_max diff_min diff_max unseen histogram\n");
	for (unsigned int site = 0; site < image->nr_sites; site++)
		for (unsigned int cpu = 0; cpu < nr_vcpus; cpu++)
			if (vcpus[cpu].stats[site].sections)
				print_line(f, image, site, cpu, &vcpus[cpu].stats[site]);
	return fclose(f);
}
