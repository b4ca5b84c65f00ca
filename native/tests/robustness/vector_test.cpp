// Aligned vector loads and stores on blocks of their alignment: these instructions fault on any other address.
#include <gtest/gtest.h>

#include <vector>

#include "support/pattern.h"
#include "tidepool/tidepool.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace {

__attribute__((target("avx512f"))) void add_512(double* to, const double* from, size_t count) {
  for (size_t i = 0; i < count; i += 8) _mm512_store_pd(to + i, _mm512_add_pd(_mm512_load_pd(to + i), _mm512_load_pd(from + i)));
}

__attribute__((target("avx2"))) void add_256(double* to, const double* from, size_t count) {
  for (size_t i = 0; i < count; i += 4) _mm256_store_pd(to + i, _mm256_add_pd(_mm256_load_pd(to + i), _mm256_load_pd(from + i)));
}

using Add = void (*)(double*, const double*, size_t);

void sum_blocks(Add add, size_t alignment, void* (*allocate)(size_t alignment, size_t size)) {
  for (size_t count : {8, 24, 128, 1000, 4096, 100000}) {
    size_t size = count * sizeof(double);
    std::vector<double*> blocks(30);
    for (double*& block : blocks) {
      block = static_cast<double*>(allocate(alignment, size));
      ASSERT_NE(nullptr, block);
      ASSERT_TRUE(test::is_aligned(block, alignment));
      for (size_t i = 0; i < count; ++i) block[i] = static_cast<double>(i);
    }
    for (size_t b = 1; b < blocks.size(); ++b) add(blocks[0], blocks[b], count);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(30.0 * static_cast<double>(i), blocks[0][i]);
    for (double* block : blocks) tp_free(block);
  }
}

void* from_pool(size_t alignment, size_t size) {
  tp_pool_options options{sizeof(options), nullptr, size, alignment, 0, false};
  tp_pool* pool = tp_pool_create(&options);
  return pool != nullptr ? tp_pool_rent(pool) : nullptr;
}

TEST(VectorLoads, Avx512OnAlignment64) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this processor has no AVX-512";
  sum_blocks(add_512, 64, tp_aligned_alloc);
  sum_blocks(add_512, 64, from_pool);
}

TEST(VectorLoads, Avx2OnAlignment32And64) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  sum_blocks(add_256, 32, tp_aligned_alloc);
  sum_blocks(add_256, 64, tp_aligned_alloc);
}

}  // namespace
#else
TEST(VectorLoads, OnAlignment64) { GTEST_SKIP() << "written for x86-64"; }
#endif
