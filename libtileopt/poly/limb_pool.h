/* Where numbers of one limb live (limb_pool.c). */
#pragma once

#include <gmp.h>

/* Room for one limb in a number that has none (_mp_alloc == 0). */
void tileopt_first_limb(mpz_ptr number);
/* Takes back the room of a number that has some (_mp_alloc > 0); the number is undefined afterwards. */
void tileopt_free_limbs(mpz_ptr number);
