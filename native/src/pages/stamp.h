// Time stamps of what becomes idle.
#pragma once

#include "os/os.h"

namespace tp {

// Milliseconds, cut to 32 bits: differences are right for 49 days.
inline uint32_t now_stamp() { return static_cast<uint32_t>(os::now_ms()); }

// True when the stamp is old enough. One that is younger than now, which was taken a while ago, counts as no idle time.
inline bool is_idle(uint32_t now, uint32_t stamp, uint32_t min_idle_ms) {
  auto age = static_cast<int32_t>(now - stamp);
  return static_cast<uint32_t>(age < 0 ? 0 : age) >= min_idle_ms;
}

}  // namespace tp
