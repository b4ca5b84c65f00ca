// How long the idle memory of one heap stays before it goes back by itself: a delay that learns.
//
// Each page that went back too early costs a page fault, so the delay doubles when a purge turns out to have been in vain, and
// falls again when that does not happen for long:
//
//   event                                                                  doublings
//   memory went back at T, after the last lesson, and 1 MiB and more of
//     it is needed again by T + 2 delays: a lesson                         + 1, unless the delay is the longest
//   five minutes without a lesson, and each five minutes more              - 1, at least 0
//
// The delay is first * 2^doublings, at most longest_ms (or first, if that is longer). Only purges of what was idle for the delay
// can be wrong about it: what the program purges itself teaches nothing. Zero is the initial state. All is under the heap's lock.
#pragma once

#include "base/config.h"

namespace tp {

class PurgeDelay {
 public:
  static constexpr uint32_t longest_ms = 30'000;
  static constexpr uint32_t forgets_after_ms = 5 * 60'000;
  static constexpr size_t worth_a_lesson = size_t{1} << 20;  // 256 page faults, some 0.2 ms

  // Returns the delay. first_ms: the option. now, here and below: a stamp.
  uint32_t at(uint32_t now, uint32_t first_ms) const {
    uint64_t delay = uint64_t{first_ms} << doublings_at(now), most = most_of(first_ms);
    return static_cast<uint32_t>(delay < most ? delay : most);
  }

  // Counts bytes that are needed again and went back at gone_at. True: the delay has doubled.
  bool note_refault(size_t bytes, uint32_t gone_at, uint32_t now, uint32_t first_ms) {
    uint32_t delay = at(now, first_ms), age = now - gone_at;
    if (first_ms == 0 || delay >= most_of(first_ms)) return false;
    if (age > uint64_t{delay} * 2 || (doublings_ != 0 && age >= now - learned_at_)) return false;
    if (now - counted_at_ > uint64_t{delay} * 2) early_bytes_ = 0;
    counted_at_ = now;
    early_bytes_ += bytes;
    if (early_bytes_ < worth_a_lesson) return false;
    doublings_ = doublings_at(now) + 1;
    learned_at_ = now;
    early_bytes_ = 0;
    return true;
  }

  // True when the delay never was another than the option's.
  bool is_first() const { return doublings_ == 0; }

 private:
  static uint32_t most_of(uint32_t first_ms) { return first_ms < longest_ms ? longest_ms : first_ms; }

  uint32_t doublings_at(uint32_t now) const {
    uint32_t forgotten = (now - learned_at_) / forgets_after_ms;
    return doublings_ > forgotten ? doublings_ - forgotten : 0;
  }

  uint32_t doublings_;   // at learned_at_
  uint32_t learned_at_;  // the last lesson
  uint32_t counted_at_;  // the last refault that counted
  size_t early_bytes_;   // of refaults since the last lesson, none of them long before counted_at_
};

}  // namespace tp
