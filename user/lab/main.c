/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lab - the five documents, one experiment each.
 *
 *	lab list				the documents
 *	lab about 001				what one says, and what to look for
 *	lab run 001 [--side N] [--writers N] [--seconds S] [map=MS] [name=value ...]
 *	lab writers --dir D [--writers N] [--seconds S] ...	only the load (Linux, too)
 *	lab streams --dir D [--streams N] [--size Z]		another load
 *	lab fragment [--low Z] ...; lab huge [--tasks N] ...	the loads of 002
 *
 * A run is one side of an experiment: it turns the switches, makes a disk, warms up, measures, and
 * prints records. Boot again for the other side: `make lab-001` on the host does that, many times,
 * and compares.
 */
#include "frame.h"
#include <stdarg.h>

static void usage(void)
{
	fputs("lab list | about ID | run ID [--side N] [--writers N] [--seconds S] [name=value "
	      "...]\n"
	      "lab writers --dir D [--writers N] [--seconds S] [--block B] [--size Z] [--think "
	      "US]\n"
	      "lab streams --dir D [--streams N] [--size Z]\n"
	      "lab fragment [--low Z] [--of-four N] [--keep Z] [--lock 0|1] [--seconds S]\n"
	      "lab huge [--tasks N] [--size Z] [--think US] [--mix 0|1] [--file F] "
	      "[--seconds S]\n",
	      stderr);
	exit(2);
}

static const struct lab_experiment *find(const char *id)
{
	const struct lab_experiment *const *e;

	for (e = __start_lab_experiments; e < __stop_lab_experiments; e++)
		if (!strcmp((*e)->id, id))
			return *e;
	fprintf(stderr, "lab: no experiment '%s' (see: lab list)\n", id);
	exit(2);
}

static int list(void)
{
	const struct lab_experiment *const *e;

	for (e = __start_lab_experiments; e < __stop_lab_experiments; e++)
		printf("%s  %-18s %s\n", (*e)->id, (*e)->switch_name, (*e)->title);
	printf("lab about ID tells what it is about; lab run ID --side N measures one side.\n");
	return 0;
}

static int about(const struct lab_experiment *e)
{
	printf("%s: %s\n", e->id, e->title);
	if (!e->side_names)
		printf("switch %s, sides 0 to %d (0: before the document, 1: as posted%s)\n",
		       e->switch_name, e->sides - 1, e->sides > 2 ? ", 2: ours" : "");
	for (int side = 0; e->side_names && side < e->sides; side++)
		printf("side %d: %s\n", side, e->side_names[side]);
	printf("\n%s\nname=value words of `lab run %s`:\n", e->about, e->id);
	for (const struct lab_key *k = e->keys; k->name; k++)
		printf("  %-18s %-24s %s\n", k->name, *k->value ? k->value : "-", k->about);
	return 0;
}

static const struct lab_key *key(const struct lab_experiment *e, const char *name, size_t len)
{
	for (const struct lab_key *k = e->keys; k->name; k++)
		if (strlen(k->name) == len && !memcmp(k->name, name, len))
			return k;
	return NULL;
}

const char *lab_text(const struct lab *lab, const char *name)
{
	size_t len = strlen(name);
	const struct lab_key *k = key(lab->exp, name, len);

	for (int i = lab->nr_words; i-- > 0;)
		if (!strncmp(lab->words[i], name, len) && lab->words[i][len] == '=')
			return lab->words[i] + len + 1;
	if (!k) {
		fprintf(stderr, "lab: experiment %s has no key '%s'\n", lab->exp->id, name);
		exit(2);
	}
	return k->value;
}

unsigned long lab_number(const struct lab *lab, const char *name)
{
	return number(name, lab_text(lab, name));
}

/*
 * "--side 1" and "--side=1" say the same as "side=1". Everything is checked before anything runs.
 */
static void words(struct lab *lab, int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const char *word = argv[i], *equals;
		char *joined;

		if (!strncmp(word, "--", 2)) {
			word += 2;
			if (!strchr(word, '=')) {
				if (i + 1 >= argc)
					usage();
				if (asprintf(&joined, "%s=%s", word, argv[++i]) < 0)
					die("lab");
				word = joined;
			}
		}
		equals = strchr(word, '=');
		if (!equals)
			usage();
		if (!strncmp(word, "side=", 5)) {
			lab->side = (int)number("side", word + 5);
			if (lab->side >= lab->exp->sides) {
				fprintf(stderr, "lab: side=%d: experiment %s has sides 0 to %d\n",
					lab->side, lab->exp->id, lab->exp->sides - 1);
				exit(2);
			}
			continue;
		}
		if (!strncmp(word, "map=", 4)) {
			lab->map_ms = number("map", word + 4);
			continue;
		}
		if (!key(lab->exp, word, (size_t)(equals - word))) {
			fprintf(stderr,
				"lab: experiment %s has no key '%.*s' (see: lab about %s)\n",
				lab->exp->id, (int)(equals - word), word, lab->exp->id);
			exit(2);
		}
		if (lab->nr_words == LAB_WORDS)
			usage();
		lab->words[lab->nr_words++] = word;
	}
}

static int run(int argc, char **argv)
{
	static struct lab lab;
	int status;

	lab.exp = find(argv[0]);
	lab.side = -1;
	words(&lab, argc - 1, argv + 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	lab.start_ns = clock_ns(CLOCK_MONOTONIC);
	if (lab.side >= 0 && (lab.exp->turn ? lab.exp->turn(lab.side)
					    : lab_switch(lab.exp->switch_name, lab.side)) < 0)
		return 1;
	if (lab.map_ms)
		lab_map_start(&lab, lab.map_ms);
	status = lab.exp->run(&lab);
	lab_map_stop();
	lab_disk_gone(&lab);
	lab_record("end", "status=%d seconds=%.3f", status,
		   (double)(clock_ns(CLOCK_MONOTONIC) - lab.start_ns) / 1e9);
	return status;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	if (argc == 3 && !strcmp(argv[1], "about"))
		return about(find(argv[2]));
	if (argc >= 3 && !strcmp(argv[1], "run"))
		return run(argc - 2, argv + 2);
	if (argc >= 2 && !strcmp(argv[1], "writers"))
		return writers_main(argc - 2, argv + 2);
	if (argc >= 2 && !strcmp(argv[1], "streams"))
		return streams_main(argc - 2, argv + 2);
	if (argc >= 2 && !strcmp(argv[1], "fragment"))
		return fragment_main(argc - 2, argv + 2);
	if (argc >= 2 && !strcmp(argv[1], "huge"))
		return hugeload_main(argc - 2, argv + 2);
	usage();
}
