#include "checked/secret.h"

#if TIDEPOOL_CHECKED

#include "os/os.h"

namespace tp::check {

static constinit std::atomic<uint64_t> secret_{0};

uint64_t secret() {
  uint64_t known = secret_.load(std::memory_order_relaxed);
  if (TP_LIKELY(known != 0)) return known;
  uint64_t drawn = os::random_seed() | 1;
  return secret_.compare_exchange_strong(known, drawn, std::memory_order_relaxed) ? drawn : known;
}

}  // namespace tp::check

#endif
