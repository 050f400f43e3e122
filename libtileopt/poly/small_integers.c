/* Integers of isl, of which nearly all fit a machine word: more than half of the time of a proof was GMP's, for numbers of one digit. isl's
 * archive calls the functions below instead of GMP's of the same name (cmake/isl.cmake renames the references). Operands and results are GMP's
 * own numbers. What fits one limb is done here; all else, and every overflow, is left to GMP. */
#include "poly/small_integers.h"

#include <stdbool.h>

#include "poly/limb_pool.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

#if __GNU_MP_RELEASE < 60200
#error "numbers without room came with GMP 6.2"
#endif
_Static_assert(GMP_NUMB_BITS == 64 && sizeof(unsigned long) == 8, "a limb is a machine word");
typedef unsigned __int128 wide;

/* 0 or one limb */
static inline bool small(mpz_srcptr x) { return (unsigned)(x->_mp_size + 1) <= 2u; }
static inline bool negative(mpz_srcptr x) { return x->_mp_size < 0; }
static inline mp_limb_t magnitude(mpz_srcptr x) { return x->_mp_size == 0 ? 0 : x->_mp_d[0]; }

static inline void store(mpz_ptr r, mp_limb_t value, bool minus) {
  if (value == 0) {
    r->_mp_size = 0;
    return;
  }
  if (__builtin_expect(r->_mp_alloc < 1, 0)) tileopt_first_limb(r);
  r->_mp_d[0] = value;
  r->_mp_size = minus ? -1 : 1;
}

/* r = (x, of sign x_minus) + (y, of sign y_minus); false: it takes two limbs, and r is as it was */
static inline bool store_sum(mpz_ptr r, mp_limb_t x, bool x_minus, mp_limb_t y, bool y_minus) {
  if (x_minus == y_minus) {
    mp_limb_t sum;
    if (__builtin_add_overflow(x, y, &sum)) return false;
    store(r, sum, x_minus);
  } else if (x >= y) {
    store(r, x - y, x_minus);
  } else {
    store(r, y - x, y_minus);
  }
  return true;
}

static inline mp_limb_t common_divisor(mp_limb_t a, mp_limb_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  const int shift = __builtin_ctzl(a | b);
  a >>= __builtin_ctzl(a);
  while (b != 0) {
    b >>= __builtin_ctzl(b);
    const mp_limb_t low = a < b ? a : b;
    b = a < b ? b - a : a - b;
    a = low;
  }
  return a << shift;
}

static inline mp_limb_t magnitude_of(long value) { return value < 0 ? 0 - (mp_limb_t)value : (mp_limb_t)value; }

/* A number without room has no limb to read: GMP asks `_mp_alloc` and `_mp_size` first. */
static const mp_limb_t no_limb = 0;

void tileopt_mpz_init(mpz_ptr r) {
  r->_mp_alloc = 0;
  r->_mp_size = 0;
  r->_mp_d = (mp_ptr)&no_limb;
}

void tileopt_mpz_clear(mpz_ptr r) {
  if (r->_mp_alloc != 0) tileopt_free_limbs(r);
}

void tileopt_mpz_set(mpz_ptr r, mpz_srcptr x) {
  if (LIKELY(small(x))) store(r, magnitude(x), negative(x));
  else mpz_set(r, x);
}

void tileopt_mpz_set_si(mpz_ptr r, long value) { store(r, magnitude_of(value), value < 0); }

void tileopt_mpz_swap(mpz_ptr a, mpz_ptr b) {
  const __mpz_struct kept = *a;
  *a = *b;
  *b = kept;
}

int tileopt_mpz_cmp(mpz_srcptr a, mpz_srcptr b) {
  if (!LIKELY(small(a) && small(b))) return mpz_cmp(a, b);
  if (a->_mp_size != b->_mp_size) return a->_mp_size < b->_mp_size ? -1 : 1;
  const mp_limb_t x = magnitude(a), y = magnitude(b);
  if (x == y) return 0;
  return (x < y) != negative(a) ? -1 : 1;
}

int tileopt_mpz_cmpabs(mpz_srcptr a, mpz_srcptr b) {
  if (!LIKELY(small(a) && small(b))) return mpz_cmpabs(a, b);
  const mp_limb_t x = magnitude(a), y = magnitude(b);
  return x == y ? 0 : x < y ? -1 : 1;
}

int tileopt_mpz_cmp_si(mpz_srcptr a, long value) {
  if (!LIKELY(small(a))) return negative(a) ? -1 : 1;
  const int size = value == 0 ? 0 : value < 0 ? -1 : 1;
  if (a->_mp_size != size) return a->_mp_size < size ? -1 : 1;
  const mp_limb_t x = magnitude(a), y = magnitude_of(value);
  if (x == y) return 0;
  return (x < y) != (value < 0) ? -1 : 1;
}

int tileopt_mpz_cmp_ui(mpz_srcptr a, unsigned long value) {
  if (!LIKELY(small(a))) return negative(a) ? -1 : 1;
  if (negative(a)) return -1;
  const mp_limb_t x = magnitude(a);
  return x == value ? 0 : x < value ? -1 : 1;
}

void tileopt_mpz_add(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && small(b)) && LIKELY(store_sum(r, magnitude(a), negative(a), magnitude(b), negative(b)))) return;
  mpz_add(r, a, b);
}

void tileopt_mpz_sub(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && small(b)) && LIKELY(store_sum(r, magnitude(a), negative(a), magnitude(b), !negative(b)))) return;
  mpz_sub(r, a, b);
}

void tileopt_mpz_add_ui(mpz_ptr r, mpz_srcptr a, unsigned long b) {
  if (LIKELY(small(a)) && LIKELY(store_sum(r, magnitude(a), negative(a), b, false))) return;
  mpz_add_ui(r, a, b);
}

void tileopt_mpz_sub_ui(mpz_ptr r, mpz_srcptr a, unsigned long b) {
  if (LIKELY(small(a)) && LIKELY(store_sum(r, magnitude(a), negative(a), b, true))) return;
  mpz_sub_ui(r, a, b);
}

void tileopt_mpz_mul(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && small(b))) {
    const wide product = (wide)magnitude(a) * magnitude(b);
    if (LIKELY(product >> 64 == 0)) {
      store(r, (mp_limb_t)product, negative(a) != negative(b));
      return;
    }
  }
  mpz_mul(r, a, b);
}

void tileopt_mpz_mul_si(mpz_ptr r, mpz_srcptr a, long b) {
  if (LIKELY(small(a))) {
    const wide product = (wide)magnitude(a) * magnitude_of(b);
    if (LIKELY(product >> 64 == 0)) {
      store(r, (mp_limb_t)product, negative(a) != (b < 0));
      return;
    }
  }
  mpz_mul_si(r, a, b);
}

void tileopt_mpz_mul_ui(mpz_ptr r, mpz_srcptr a, unsigned long b) {
  if (LIKELY(small(a))) {
    const wide product = (wide)magnitude(a) * b;
    if (LIKELY(product >> 64 == 0)) {
      store(r, (mp_limb_t)product, negative(a));
      return;
    }
  }
  mpz_mul_ui(r, a, b);
}

/* r += a b, or r -= a b where `minus` */
static inline bool add_product(mpz_ptr r, mpz_srcptr a, mpz_srcptr b, bool minus) {
  if (!LIKELY(small(a) && small(b) && small(r))) return false;
  const wide product = (wide)magnitude(a) * magnitude(b);
  return LIKELY(product >> 64 == 0) && store_sum(r, magnitude(r), negative(r), (mp_limb_t)product, (negative(a) != negative(b)) != minus);
}

void tileopt_mpz_addmul(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (!add_product(r, a, b, false)) mpz_addmul(r, a, b);
}

void tileopt_mpz_submul(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (!add_product(r, a, b, true)) mpz_submul(r, a, b);
}

void tileopt_mpz_gcd(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && small(b))) store(r, common_divisor(magnitude(a), magnitude(b)), false);
  else mpz_gcd(r, a, b);
}

void tileopt_mpz_lcm(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && small(b))) {
    const mp_limb_t x = magnitude(a), y = magnitude(b);
    const wide multiple = x == 0 || y == 0 ? 0 : (wide)(x / common_divisor(x, y)) * y;
    if (LIKELY(multiple >> 64 == 0)) {
      store(r, (mp_limb_t)multiple, false);
      return;
    }
  }
  mpz_lcm(r, a, b);
}

/* Divisors are not 0 but where GMP traps too. */

void tileopt_mpz_divexact(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && b->_mp_size != 0 && small(b))) {
    const mp_limb_t divisor = magnitude(b);
    store(r, divisor == 1 ? magnitude(a) : magnitude(a) / divisor, negative(a) != negative(b));
  } else {
    mpz_divexact(r, a, b);
  }
}

int tileopt_mpz_divisible_p(mpz_srcptr a, mpz_srcptr b) {
  if (!LIKELY(small(a) && b->_mp_size != 0 && small(b))) return mpz_divisible_p(a, b);
  return magnitude(b) == 1 || magnitude(a) % magnitude(b) == 0;
}

/* The quotient, rounded towards minus infinity where `down`, else towards plus infinity. */
static inline void divide(mpz_ptr r, mpz_srcptr a, mpz_srcptr b, bool down) {
  const bool minus = negative(a) != negative(b);
  const mp_limb_t x = magnitude(a), y = magnitude(b);
  mp_limb_t quotient = x / y;
  if (x % y != 0 && minus == down) ++quotient;  /* y > 1, so that it cannot overflow */
  store(r, quotient, minus);
}

void tileopt_mpz_fdiv_q(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && b->_mp_size != 0 && small(b))) divide(r, a, b, true);
  else mpz_fdiv_q(r, a, b);
}

void tileopt_mpz_cdiv_q(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && b->_mp_size != 0 && small(b))) divide(r, a, b, false);
  else mpz_cdiv_q(r, a, b);
}

void tileopt_mpz_fdiv_r(mpz_ptr r, mpz_srcptr a, mpz_srcptr b) {
  if (LIKELY(small(a) && b->_mp_size != 0 && small(b))) {
    const bool minus = negative(b);
    const mp_limb_t y = magnitude(b), rest = magnitude(a) % y;
    store(r, rest != 0 && negative(a) != minus ? y - rest : rest, minus);
  } else {
    mpz_fdiv_r(r, a, b);
  }
}
