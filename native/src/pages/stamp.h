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

// Since when a run is idle, and how much longer than the delay of the option it stays before it goes back by itself.
struct IdleSince {
  uint32_t stamp;
  uint32_t extra_ms;

  IdleSince(uint32_t since = 0, uint32_t extra = 0) : stamp(since), extra_ms(extra) {}
};

}  // namespace tp
