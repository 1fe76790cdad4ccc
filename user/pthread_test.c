/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pthread_test - threads, as a program sees them. Output is the same on every correct system.
 *
 * Each test prints one line with counts that do not depend on the order in which threads ran.
 * The program exits 0 when every count is as expected.
 */
#define _GNU_SOURCE
#include "lab.h"
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>

#define THREADS 8
#define ROUNDS 500

static int failures;

static void expect(const char *what, long got, long want)
{
	printf("%-10s %ld %s\n", what, got, got == want ? "ok" : "WRONG");
	if (got != want)
		failures++;
}

static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	int err = pthread_create(t, NULL, fn, arg);

	if (err) {
		printf("pthread_create: %s\n", strerror(err));
		exit(1);
	}
}

/* Runs fn in THREADS threads; => the sum of their results. */
static long crowd(void *(*fn)(void *))
{
	pthread_t t[THREADS];
	long sum = 0;
	void *ret;

	for (long i = 0; i < THREADS; i++)
		start(&t[i], fn, (void *)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &ret);
		sum += (long)ret;
	}
	return sum;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;

static void *mutex_thread(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		long seen = counter;

		if (i % 50 == 0)
			sched_yield();
		counter = seen + 1;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void test_mutex(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	int depth = 0;

	expect("join", crowd(mutex_thread), THREADS * (THREADS - 1) / 2);
	expect("mutex", counter, THREADS * ROUNDS);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m, &attr);
	while (depth < 10 && pthread_mutex_lock(&m) == 0)
		depth++;
	for (int i = 0; i < depth; i++)
		pthread_mutex_unlock(&m);
	expect("recursive", depth, 10);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&m, &attr);
	pthread_mutex_lock(&m);
	expect("deadlock", pthread_mutex_lock(&m) == EDEADLK, 1);
}

/* A queue of one: a producer and several consumers take turns through one condition. */
static int slot, done;

static void *consumer(void *arg)
{
	long sum = 0;

	pthread_mutex_lock(&lock);
	for (;;) {
		while (!slot && !done)
			pthread_cond_wait(&cond, &lock);
		if (!slot)
			break;
		sum += slot;
		slot = 0;
		pthread_cond_broadcast(&cond);
	}
	pthread_mutex_unlock(&lock);
	return (void *)sum;
}

static void test_cond(void)
{
	struct timespec at;
	pthread_t t[3];
	long sum = 0;
	void *ret;
	int err = 0;

	for (int i = 0; i < 3; i++)
		start(&t[i], consumer, NULL);
	pthread_mutex_lock(&lock);
	for (int i = 1; i <= 200; i++) {
		while (slot)
			pthread_cond_wait(&cond, &lock);
		slot = i;
		pthread_cond_broadcast(&cond);
	}
	while (slot)
		pthread_cond_wait(&cond, &lock);
	done = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], &ret);
		sum += (long)ret;
	}
	expect("cond", sum, 200 * 201 / 2);
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += 5000000;
	if (at.tv_nsec >= 1000000000)
		at.tv_sec++, at.tv_nsec -= 1000000000;
	pthread_mutex_lock(&lock);
	while (!err)
		err = pthread_cond_timedwait(&cond, &lock, &at);
	pthread_mutex_unlock(&lock);
	expect("timedwait", err == ETIMEDOUT, 1);
}

static pthread_barrier_t barrier;
static int phase[THREADS];

static void *barrier_thread(void *arg)
{
	long me = (long)arg, ok = 1, serial = 0;

	for (int round = 1; round <= 20; round++) {
		phase[me] = round;
		serial += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
		for (int i = 0; i < THREADS; i++)
			ok &= phase[i] == round;
		pthread_barrier_wait(&barrier);
	}
	return (void *)(ok * 1000 + serial);
}

static void test_barrier(void)
{
	pthread_barrier_init(&barrier, NULL, THREADS);
	expect("barrier", crowd(barrier_thread), THREADS * 1000 + 20);
	pthread_barrier_destroy(&barrier);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static long pair[2];

static void *rwlock_thread(void *arg)
{
	long torn = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (((long)arg + i) % 4 == 0) {
			pthread_rwlock_wrlock(&rwlock);
			pair[0]++;
			if (i % 20 == 0)
				sched_yield();
			pair[1]++;
		} else {
			pthread_rwlock_rdlock(&rwlock);
			torn += pair[0] != pair[1];
		}
		pthread_rwlock_unlock(&rwlock);
	}
	return (void *)torn;
}

static __thread long tls_value = 7;
static __thread char tls_block[3000];
static pthread_key_t key;
static long destroyed;

static void destroy(void *value)
{
	__atomic_add_fetch(&destroyed, (long)value, __ATOMIC_SEQ_CST);
}

static void *tls_thread(void *arg)
{
	long ok = tls_value == 7;

	pthread_setspecific(key, (void *)((long)arg + 1));
	tls_value = (long)arg;
	memset(tls_block, (int)(long)arg, sizeof(tls_block));
	for (int i = 0; i < 20; i++) {
		sched_yield();
		ok &= tls_value == (long)arg && tls_block[2999] == (char)(long)arg;
	}
	return (void *)ok;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static long inits;

static void initialise(void)
{
	sched_yield();
	inits++;
}

static void *once_thread(void *arg)
{
	pthread_once(&once, initialise);
	return (void *)inits;
}

static sem_t items, ended;
static long taken;

static void *sem_thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		sem_wait(&items);
		__atomic_add_fetch(&taken, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void *detached_thread(void *arg)
{
	sem_post(&ended);
	return NULL;
}

static void test_sem(void)
{
	pthread_t t[2], d;

	sem_init(&items, 0, 0);
	sem_init(&ended, 0, 0);
	for (int i = 0; i < 2; i++)
		start(&t[i], sem_thread, NULL);
	for (int i = 0; i < 200; i++)
		sem_post(&items);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	expect("semaphore", taken, 200);
	expect("trywait", sem_trywait(&items) < 0 && errno == EAGAIN, 1);
	for (int i = 0; i < 50; i++) {
		start(&d, detached_thread, NULL);
		pthread_detach(d);
	}
	for (int i = 0; i < 50; i++)
		sem_wait(&ended);
	expect("detach", 50, 50);
}

static long cleanups;

static void cleanup(void *arg)
{
	cleanups += (long)arg;
}

static void *sleeper(void *arg)
{
	pthread_cleanup_push(cleanup, (void *)1);
	sem_post(&ended);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
	return NULL;
}

static void *busy(void *arg)
{
	pthread_cleanup_push(cleanup, (void *)10);
	sem_post(&ended);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

static void test_cancel(void)
{
	void *(*kinds[])(void *) = { sleeper, busy };
	long canceled = 0;
	pthread_t t;
	void *ret;

	for (int i = 0; i < 10; i++) {
		start(&t, kinds[i % 2], NULL);
		sem_wait(&ended);
		pthread_cancel(t);
		pthread_join(t, &ret);
		canceled += ret == PTHREAD_CANCELED;
	}
	expect("cancel", canceled, 10);
	expect("cleanup", cleanups, 55);
}

static pthread_mutex_t robust;

static void *dies_with_lock(void *arg)
{
	pthread_mutex_lock(&robust);
	return NULL;
}

static void test_robust(void)
{
	pthread_mutexattr_t attr;
	pthread_t t;
	long recovered = 0;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	for (int i = 0; i < 5; i++) {
		start(&t, dies_with_lock, NULL);
		pthread_join(t, NULL);
		if (pthread_mutex_lock(&robust) == EOWNERDEAD) {
			pthread_mutex_consistent(&robust);
			recovered++;
		}
		pthread_mutex_unlock(&robust);
	}
	expect("robust", recovered, 5);
}

static volatile sig_atomic_t signals[THREADS];
static __thread long my_index = -1;

static void on_signal(int number)
{
	if (my_index >= 0)
		signals[my_index]++;
}

static void *signal_thread(void *arg)
{
	my_index = (long)arg;
	sem_post(&ended);
	while (!signals[my_index])
		sched_yield();
	return (void *)(long)signals[my_index];
}

static void test_signal(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	pthread_t t[THREADS];
	long sum = 0;
	void *ret;

	sigaction(SIGUSR1, &act, NULL);
	for (long i = 0; i < THREADS; i++)
		start(&t[i], signal_thread, (void *)i);
	for (int i = 0; i < THREADS; i++)
		sem_wait(&ended);
	for (int i = 0; i < THREADS; i++)
		pthread_kill(t[i], SIGUSR1);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &ret);
		sum += (long)ret;
	}
	expect("signal", sum, THREADS);
}

/* A process whose second thread forks, and one whose second thread ends the whole process. */
static void *fork_thread(void *arg)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(5);
	waitpid(pid, &status, 0);
	return (void *)(long)WEXITSTATUS(status);
}

static void *exit_thread(void *arg)
{
	_exit(9);
}

static void test_process(void)
{
	pthread_t t;
	int status;
	pid_t pid;

	expect("fork", crowd(fork_thread), THREADS * 5);
	pid = fork();
	if (pid == 0) {
		start(&t, exit_thread, NULL);
		for (;;)
			pause();
	}
	waitpid(pid, &status, 0);
	expect("exit", WEXITSTATUS(status), 9);
}

static void *stack_thread(void *arg)
{
	volatile char deep[64 << 10];

	memset((char *)deep, 1, sizeof(deep));
	return (void *)(long)deep[100];
}

static void test_create_many(void)
{
	pthread_attr_t attr;
	pthread_t t;
	long sum = 0;
	void *ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 << 10);
	for (int i = 0; i < 200; i++) {
		if (pthread_create(&t, &attr, stack_thread, NULL))
			break;
		pthread_join(t, &ret);
		sum += (long)ret;
	}
	expect("create", sum, 200);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_mutex();
	test_cond();
	test_barrier();
	expect("rwlock", crowd(rwlock_thread) + pair[0], THREADS * ROUNDS / 4);
	pthread_key_create(&key, destroy);
	expect("tls", crowd(tls_thread), THREADS);
	expect("keys", destroyed, THREADS * (THREADS + 1) / 2);
	expect("once", crowd(once_thread), THREADS);
	test_sem();
	test_cancel();
	test_robust();
	test_signal();
	test_process();
	test_create_many();
	printf("pthread_test: %d failures\n", failures);
	return failures != 0;
}
