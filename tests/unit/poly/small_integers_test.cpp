#include "poly/small_integers.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

/// A number of GMP's own, made from text, so that nothing under test makes it.
struct Number {
  Number() { mpz_init(value); }
  explicit Number(const std::string& text) { mpz_init_set_str(value, text.c_str(), 10); }
  Number(const Number& other) { mpz_init_set(value, other.value); }
  Number& operator=(const Number&) = delete;
  ~Number() { mpz_clear(value); }
  mpz_t value;
};

std::string text(mpz_srcptr number) {
  std::vector<char> digits(mpz_sizeinbase(number, 10) + 2);
  return mpz_get_str(digits.data(), 10, number);
}

/// Around the edges of words and limbs, and beyond them.
std::vector<std::string> interesting() {
  std::vector<std::string> all = {"0"};
  for (const char* magnitude : {"1", "2", "3", "6", "7", "64", "255", "4294967295", "4294967296", "6442450944", "9223372036854775807", "9223372036854775808",
                                "9223372036854775809", "18446744073709551614", "18446744073709551615", "18446744073709551616", "18446744073709551617",
                                "55340232221128654848", "340282366920938463463374607431768211455", "340282366920938463463374607431768211456"}) {
    all.push_back(magnitude);
    all.push_back(std::string("-") + magnitude);
  }
  return all;
}

using Three = void (*)(mpz_ptr, mpz_srcptr, mpz_srcptr);

/// `ours` gives what `theirs` gives, also where the result is one of the operands, or both are one number. `start`: of the result.
void expect_equal(const char* name, Three ours, Three theirs, const std::string& a, const std::string& b, const std::string& start) {
  for (const int alias : {0, 1, 2, 3}) {
    if (alias == 3 && a != b) continue;
    Number x(a), y(b), r(start), x2(a), y2(b), r2(start);
    Number* of[] = {&r, &x, &y, &x};
    Number* of2[] = {&r2, &x2, &y2, &x2};
    ours(of[alias]->value, x.value, alias == 3 ? x.value : y.value);
    theirs(of2[alias]->value, x2.value, alias == 3 ? x2.value : y2.value);
    ASSERT_EQ(text(of[alias]->value), text(of2[alias]->value)) << name << "(" << a << ", " << b << "), result " << start << ", alias " << alias;
  }
}

void expect_all_equal(const std::string& a, const std::string& b, const std::string& start) {
  expect_equal("add", tileopt_mpz_add, mpz_add, a, b, start);
  expect_equal("sub", tileopt_mpz_sub, mpz_sub, a, b, start);
  expect_equal("mul", tileopt_mpz_mul, mpz_mul, a, b, start);
  expect_equal("addmul", tileopt_mpz_addmul, mpz_addmul, a, b, start);
  expect_equal("submul", tileopt_mpz_submul, mpz_submul, a, b, start);
  expect_equal("gcd", tileopt_mpz_gcd, mpz_gcd, a, b, start);
  expect_equal("lcm", tileopt_mpz_lcm, mpz_lcm, a, b, start);
  const Number x(a), y(b);
  if (mpz_sgn(y.value) != 0) {
    expect_equal("fdiv_q", tileopt_mpz_fdiv_q, mpz_fdiv_q, a, b, start);
    expect_equal("cdiv_q", tileopt_mpz_cdiv_q, mpz_cdiv_q, a, b, start);
    expect_equal("fdiv_r", tileopt_mpz_fdiv_r, mpz_fdiv_r, a, b, start);
    if (mpz_divisible_p(x.value, y.value)) expect_equal("divexact", tileopt_mpz_divexact, mpz_divexact, a, b, start);
    Number product;
    mpz_mul(product.value, x.value, y.value);
    expect_equal("divexact", tileopt_mpz_divexact, mpz_divexact, text(product.value), b, start);
  }
  const auto sign = [](int value) { return (value > 0) - (value < 0); };
  EXPECT_EQ(sign(tileopt_mpz_cmp(x.value, y.value)), sign(mpz_cmp(x.value, y.value))) << a << " " << b;
  EXPECT_EQ(sign(tileopt_mpz_cmpabs(x.value, y.value)), sign(mpz_cmpabs(x.value, y.value))) << a << " " << b;
  EXPECT_EQ(tileopt_mpz_divisible_p(x.value, y.value) != 0, mpz_divisible_p(x.value, y.value) != 0) << a << " " << b;
  expect_equal("set", [](mpz_ptr r, mpz_srcptr p, mpz_srcptr) { tileopt_mpz_set(r, p); }, [](mpz_ptr r, mpz_srcptr p, mpz_srcptr) { mpz_set(r, p); }, a, b, start);
  if (mpz_fits_slong_p(y.value)) {
    const long word = mpz_get_si(y.value);
    EXPECT_EQ(sign(tileopt_mpz_cmp_si(x.value, word)), sign(mpz_cmp_si(x.value, word))) << a << " " << b;
    expect_equal("mul_si", [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { tileopt_mpz_mul_si(r, p, mpz_get_si(q)); },
                 [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { mpz_mul_si(r, p, mpz_get_si(q)); }, a, b, start);
    expect_equal("set_si", [](mpz_ptr r, mpz_srcptr, mpz_srcptr q) { tileopt_mpz_set_si(r, mpz_get_si(q)); },
                 [](mpz_ptr r, mpz_srcptr, mpz_srcptr q) { mpz_set_si(r, mpz_get_si(q)); }, a, b, start);
  }
  if (mpz_fits_ulong_p(y.value)) {
    const unsigned long word = mpz_get_ui(y.value);
    EXPECT_EQ(sign(tileopt_mpz_cmp_ui(x.value, word)), sign(mpz_cmp_ui(x.value, word))) << a << " " << b;
    expect_equal("add_ui", [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { tileopt_mpz_add_ui(r, p, mpz_get_ui(q)); },
                 [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { mpz_add_ui(r, p, mpz_get_ui(q)); }, a, b, start);
    expect_equal("sub_ui", [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { tileopt_mpz_sub_ui(r, p, mpz_get_ui(q)); },
                 [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { mpz_sub_ui(r, p, mpz_get_ui(q)); }, a, b, start);
    expect_equal("mul_ui", [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { tileopt_mpz_mul_ui(r, p, mpz_get_ui(q)); },
                 [](mpz_ptr r, mpz_srcptr p, mpz_srcptr q) { mpz_mul_ui(r, p, mpz_get_ui(q)); }, a, b, start);
  }
}

TEST(SmallIntegers, AgreeWithGmpAtTheEdgesOfWords) {
  for (const std::string& a : interesting())
    for (const std::string& b : interesting())
      for (const std::string start : {"0", "1", "-18446744073709551615", "18446744073709551616"}) {
        expect_all_equal(a, b, start);
        if (testing::Test::HasFatalFailure()) return;
      }
}

TEST(SmallIntegers, AgreeWithGmpOnRandomNumbers) {
  std::mt19937_64 random(7);
  const auto draw = [&] {
    const std::uint64_t magnitude = random() >> (random() % 64);
    return (random() % 2 ? "-" : "") + std::to_string(magnitude);
  };
  for (int i = 0; i < 3000; ++i) {
    expect_all_equal(draw(), draw(), draw());
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(SmallIntegers, NumbersWithoutRoomGrowAndShrink) {
  mpz_t number, other;
  tileopt_mpz_init(number);
  tileopt_mpz_init(other);
  EXPECT_EQ(mpz_sgn(number), 0);
  tileopt_mpz_set_si(number, -5);
  EXPECT_EQ(text(number), "-5");
  mpz_pow_ui(number, number, 100);  // GMP's own function, on memory of the pool
  const std::string large = text(number);
  tileopt_mpz_swap(number, other);
  EXPECT_EQ(text(other), large);
  EXPECT_EQ(mpz_sgn(number), 0);
  mpz_tdiv_q(other, other, other);
  mpz_realloc2(other, 1);
  EXPECT_EQ(text(other), "1");
  tileopt_mpz_clear(number);
  tileopt_mpz_clear(other);
}

TEST(SmallIntegers, NumbersMayEndInAnotherThread) {
  std::vector<__mpz_struct> numbers(20000);
  std::thread([&] {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      tileopt_mpz_init(&numbers[i]);
      tileopt_mpz_set_si(&numbers[i], static_cast<long>(i));
    }
  }).join();
  std::thread([&] {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(mpz_get_ui(&numbers[i]), i);
      tileopt_mpz_clear(&numbers[i]);
    }
  }).join();
  std::thread([&] {  // takes over what they left
    for (__mpz_struct& number : numbers) {
      tileopt_mpz_init(&number);
      tileopt_mpz_set_si(&number, -1);
    }
    for (__mpz_struct& number : numbers) ASSERT_EQ(mpz_cmp_si(&number, -1), 0);
    for (__mpz_struct& number : numbers) tileopt_mpz_clear(&number);
  }).join();
}

}  // namespace
