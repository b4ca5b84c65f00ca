// What all threads of the stress share, and what one of them does.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "support/pattern.h"
#include "tidepool/tidepool.h"

namespace stress {

// How a block was made, which says how it may be freed.
enum class Kind : uint8_t { plain, aligned, heap, pool };

struct Block {
  void* start = nullptr;
  size_t size = 0;
  size_t alignment = 0;
  uint32_t owner = 0;  // heap or pool
  Kind kind = Kind::plain;
};

// Blocks on their way to another thread, which verifies and frees them.
class Mailbox {
 public:
  void send(const Block& block) {
    std::lock_guard guard(lock_);
    blocks_.push_back(block);
  }

  std::vector<Block> take() {
    std::lock_guard guard(lock_);
    return std::exchange(blocks_, {});
  }

 private:
  std::mutex lock_;
  std::vector<Block> blocks_;
};

constexpr unsigned heap_count = 3;
constexpr unsigned pool_count = 4;

struct Shared {
  uint64_t seed;
  tp_heap* heaps[heap_count];
  tp_pool* pools[pool_count];
  std::vector<Mailbox> mailboxes;
  std::atomic<uint64_t> verified{0};
  std::atomic<uint64_t> refused{0};
};

// Allocates, reallocates, frees and sends `operations` times, then frees all it has.
void work(Shared& shared, unsigned number, uint64_t seed, uint64_t operations);

// Verifies the block's contents, ends the program when they are wrong, frees it.
void verify_and_free(Shared& shared, const Block& block, uint64_t how);

}  // namespace stress
