#include "heap/pool_bins.h"

#include "heap/shapes.h"
#include "os/assert.h"

namespace tp {

constinit Lock pools_lock;

namespace {

struct Charge {
  std::atomic<size_t> held;
  size_t limit;
};

uint64_t taken;  // bit i: bin first_pool_bin + i
constinit Charge charges[pool_bins]{};
static_assert(pool_bins == 64);

Charge& charge_of(size_t bin) { return charges[bin - first_pool_bin]; }

}  // namespace

size_t take_pool_bin(const Shape& shape, size_t limit) {
  TP_ASSERT(pools_lock.is_held());
  if (~taken == 0) return 0;
  auto bit = static_cast<unsigned>(__builtin_ctzll(~taken));
  taken |= uint64_t{1} << bit;
  size_t bin = first_pool_bin + bit;
  charge_of(bin).limit = limit;
  charge_of(bin).held.store(0, std::memory_order_relaxed);
  shapes.of[bin] = shape;
  return bin;
}

void give_pool_bin(size_t bin) {
  uint64_t bit = uint64_t{1} << (bin - first_pool_bin);
  TP_ASSERT(pools_lock.is_held() && (taken & bit) != 0 && held_by_pool_bin(bin) == 0);
  taken &= ~bit;
}

bool charge_pool_bin(size_t bin, size_t bytes) {
  Charge& charge = charge_of(bin);
  size_t before = charge.held.fetch_add(bytes, std::memory_order_relaxed);
  if (charge.limit == 0 || before + bytes <= charge.limit) return true;
  charge.held.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void discharge_pool_bin(size_t bin, size_t bytes) { charge_of(bin).held.fetch_sub(bytes, std::memory_order_relaxed); }

bool fits_pool_bin(size_t bin, size_t bytes) {
  return charge_of(bin).limit == 0 || held_by_pool_bin(bin) + bytes <= charge_of(bin).limit;
}

size_t held_by_pool_bin(size_t bin) { return charge_of(bin).held.load(std::memory_order_relaxed); }

}  // namespace tp
