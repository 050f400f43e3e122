/* GMP's functions, quick for numbers of one limb: each does exactly what GMP's function of its name does (`tileopt_mpz_add`: `mpz_add`), for all
 * numbers and any aliases among the arguments. */
#pragma once

#include <gmp.h>

#ifdef __cplusplus
extern "C" {
#endif

void tileopt_mpz_init(mpz_ptr r);
void tileopt_mpz_clear(mpz_ptr r);
void tileopt_mpz_set(mpz_ptr r, mpz_srcptr x);
void tileopt_mpz_set_si(mpz_ptr r, long value);
void tileopt_mpz_swap(mpz_ptr a, mpz_ptr b);
int tileopt_mpz_cmp(mpz_srcptr a, mpz_srcptr b);
int tileopt_mpz_cmpabs(mpz_srcptr a, mpz_srcptr b);
int tileopt_mpz_cmp_si(mpz_srcptr a, long value);
int tileopt_mpz_cmp_ui(mpz_srcptr a, unsigned long value);
void tileopt_mpz_add(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_sub(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_add_ui(mpz_ptr r, mpz_srcptr a, unsigned long b);
void tileopt_mpz_sub_ui(mpz_ptr r, mpz_srcptr a, unsigned long b);
void tileopt_mpz_mul(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_mul_si(mpz_ptr r, mpz_srcptr a, long b);
void tileopt_mpz_mul_ui(mpz_ptr r, mpz_srcptr a, unsigned long b);
void tileopt_mpz_addmul(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_submul(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_gcd(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_lcm(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_divexact(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
int tileopt_mpz_divisible_p(mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_fdiv_q(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_cdiv_q(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);
void tileopt_mpz_fdiv_r(mpz_ptr r, mpz_srcptr a, mpz_srcptr b);

#ifdef __cplusplus
}
#endif
