/* Memory of GMP's numbers of one limb, which are millions and short-lived: lists of free limbs by thread, eight bytes each where malloc takes
 * thirty-two, so that rows of a tableau stay in the caches. A limb may be freed by another thread than the one that asked for it. What a thread
 * leaves behind is taken over by others; nothing is given back to malloc. */
#include "poly/limb_pool.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* Sanitizers see what is lost and what is used after its end in malloc's memory alone. */
void tileopt_first_limb(mpz_ptr number) { _mpz_realloc(number, 1); }
void tileopt_free_limbs(mpz_ptr number) { mpz_clear(number); }
#else

enum { limbs_of_a_chunk = 8192 };

typedef union Limb {
  union Limb *next;
  mp_limb_t value;
} Limb;

static __thread Limb *free_limbs;
static __thread int is_registered;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Limb *left_behind; /* by threads that ended */
static pthread_key_t at_exit;
static int has_key;

static void *or_abort(void *memory) {
  if (memory == NULL) {
    fputs("tileopt: out of memory\n", stderr);
    abort();
  }
  return memory;
}

static void leave_behind(void *unused) {
  (void)unused;
  if (free_limbs == NULL) return;
  Limb *last = free_limbs;
  while (last->next != NULL) last = last->next;
  pthread_mutex_lock(&mutex);
  last->next = left_behind;
  left_behind = free_limbs;
  pthread_mutex_unlock(&mutex);
  free_limbs = NULL;
  is_registered = 0;
}

static __attribute__((noinline)) void refill(void) {
  if (has_key && !is_registered) is_registered = pthread_setspecific(at_exit, &is_registered) == 0;
  pthread_mutex_lock(&mutex);
  free_limbs = left_behind;
  left_behind = NULL;
  pthread_mutex_unlock(&mutex);
  if (free_limbs != NULL) return;
  Limb *chunk = or_abort(malloc(limbs_of_a_chunk * sizeof(Limb)));
  for (int i = 0; i + 1 < limbs_of_a_chunk; ++i) chunk[i].next = &chunk[i + 1];
  chunk[limbs_of_a_chunk - 1].next = NULL;
  free_limbs = chunk;
}

static void *allocate(size_t bytes) {
  if (bytes > sizeof(Limb)) return or_abort(malloc(bytes));
  if (free_limbs == NULL) refill();
  Limb *limb = free_limbs;
  free_limbs = limb->next;
  return limb;
}

/* GMP says how many bytes it asked for. */
static void release(void *memory, size_t bytes) {
  if (bytes > sizeof(Limb)) {
    free(memory);
    return;
  }
  Limb *limb = memory;
  limb->next = free_limbs;
  free_limbs = limb;
}

static void *reallocate(void *memory, size_t old_bytes, size_t bytes) {
  if (old_bytes > sizeof(Limb) && bytes > sizeof(Limb)) return or_abort(realloc(memory, bytes));
  if (old_bytes <= sizeof(Limb) && bytes <= sizeof(Limb)) return memory;
  void *moved = allocate(bytes);
  memcpy(moved, memory, old_bytes < bytes ? old_bytes : bytes);
  release(memory, old_bytes);
  return moved;
}

void tileopt_first_limb(mpz_ptr number) {
  number->_mp_d = allocate(sizeof(Limb));
  number->_mp_alloc = 1;
}

void tileopt_free_limbs(mpz_ptr number) { release(number->_mp_d, (size_t)number->_mp_alloc * sizeof(Limb)); }

/* Before any number exists: what one function gave, only its own partner may take back. */
__attribute__((constructor(101))) static void set_memory_functions(void) {
  has_key = pthread_key_create(&at_exit, leave_behind) == 0;
  mp_set_memory_functions(allocate, reallocate, release);
}

/* A library that is unloaded leaves no function behind for threads to call at their end. */
__attribute__((destructor)) static void delete_key(void) {
  if (has_key) pthread_key_delete(at_exit);
  has_key = 0;
}

#endif
