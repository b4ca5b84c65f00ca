#include "stress/worker.h"

#include <stdio.h>
#include <stdlib.h>

namespace stress {

namespace {

[[noreturn]] void give_up(const Shared& shared, const Block& block, const char* what) {
  fprintf(stderr, "stress: %s: block %p, size %zu, alignment %zu, kind %d, seed %llu\n", what, block.start, block.size,
          block.alignment, static_cast<int>(block.kind), static_cast<unsigned long long>(shared.seed));
  abort();
}

// Mostly small, as programs ask; now and then whole pages and more.
size_t random_size(test::Random& random) {
  uint64_t kind = random.below(1000);
  if (kind < 800) return random.below(size_t{1} << random.below(11));
  if (kind < 980) return random.below(size_t{1} << random.below(16));
  if (kind < 998) return random.below(300000);
  return random.below(3 << 20);
}

void verify(Shared& shared, const Block& block) {
  if (!test::is_filled(block.start, block.size, shared.seed)) give_up(shared, block, "the contents changed");
  if (tp_usable_size(block.start) < block.size) give_up(shared, block, "the usable size is too small");
  shared.verified.fetch_add(1, std::memory_order_relaxed);
}

class Worker {
 public:
  Worker(Shared& shared, unsigned number, uint64_t seed) : shared_(shared), number_(number), random_(seed), slots_(300) {}

  void run(uint64_t operations) {
    for (uint64_t i = 0; i < operations; ++i) {
      step(slots_[random_.below(slots_.size())]);
      if (i % 64 == 0) empty_mailbox();
    }
    for (Block& block : slots_) release(block);
    empty_mailbox();
  }

 private:
  void step(Block& block) {
    uint64_t action = random_.below(1000);
    if (block.start == nullptr) {
      if (action < 30) batch();
      else allocate(block);
    } else if (action < 120) {
      reallocate(block);
    } else if (action < 320) {
      shared_.mailboxes[random_.below(shared_.mailboxes.size())].send(block);
      block = {};
    } else if (action < 322) {
      tp_thread_idle();
    } else if (action < 323) {
      tp_purge(static_cast<uint32_t>(random_.below(20)));
    } else {
      release(block);
    }
  }

  void allocate(Block& block) {
    Block made;
    made.size = random_size(random_);
    uint64_t way = random_.below(100);
    bool zeroed = false;
    if (way < 50) {
      made.start = tp_malloc(made.size);
    } else if (way < 60) {
      made.start = tp_zalloc(made.size);
      zeroed = true;
    } else if (way < 65) {
      made.start = tp_try_malloc(made.size);
      if (made.start == nullptr) made.start = tp_malloc(made.size);
    } else if (way < 75) {
      made.kind = Kind::aligned;
      made.alignment = size_t{1} << random_.below(random_.one_in(20) ? 19 : 13);
      zeroed = random_.one_in(3);
      made.start = zeroed ? tp_aligned_zalloc(made.alignment, made.size) : tp_aligned_alloc(made.alignment, made.size);
    } else if (way < 85) {
      made.kind = Kind::heap;
      made.owner = static_cast<uint32_t>(random_.below(heap_count));
      made.start = tp_heap_malloc(shared_.heaps[made.owner], made.size);
    } else {
      made.kind = Kind::pool;
      made.owner = static_cast<uint32_t>(random_.below(pool_count));
      made.size = tp_pool_block_size(shared_.pools[made.owner]);
      made.start = tp_pool_rent(shared_.pools[made.owner]);
    }
    if (made.start == nullptr) give_up(shared_, made, "out of memory");
    if (!test::is_aligned(made.start, made.alignment != 0 ? made.alignment : 16)) give_up(shared_, made, "not aligned");
    if (zeroed && !test::is_zero(made.start, made.size)) give_up(shared_, made, "not zero");
    test::fill(made.start, made.size, shared_.seed);
    block = made;
  }

  void batch() {
    void* blocks[40];
    size_t size = random_size(random_) / 8;
    size_t count = tp_malloc_batch(size, random_.below(40) + 1, blocks);
    for (size_t i = 0; i < count; ++i) test::fill(blocks[i], size, shared_.seed);
    for (size_t i = 0; i < count; ++i) {
      if (!test::is_filled(blocks[i], size, shared_.seed)) give_up(shared_, {blocks[i], size, 0, 0, Kind::plain}, "batch changed");
    }
    tp_free_batch(blocks, count);
  }

  // The pattern depends on the address, so the first bytes are compared with a copy.
  void reallocate(Block& block) {
    if (block.kind != Kind::plain) return release(block);
    verify(shared_, block);
    unsigned char before[256];
    size_t size = random_size(random_);
    size_t kept = block.size < size ? block.size : size;
    if (kept > sizeof(before)) kept = sizeof(before);
    memcpy(before, block.start, kept);
    void* moved = tp_realloc(block.start, size);
    if (moved == nullptr) give_up(shared_, block, "out of memory");
    block.start = moved;
    block.size = size;
    if (memcmp(before, moved, kept) != 0) give_up(shared_, block, "realloc lost the contents");
    test::fill(moved, size, shared_.seed);
  }

  void release(Block& block) {
    if (block.start == nullptr) return;
    verify_and_free(shared_, block, random_.next());
    block = {};
  }

  void empty_mailbox() {
    for (const Block& block : shared_.mailboxes[number_].take()) verify_and_free(shared_, block, random_.next());
  }

  Shared& shared_;
  unsigned number_;
  test::Random random_;
  std::vector<Block> slots_;
};

}  // namespace

void verify_and_free(Shared& shared, const Block& block, uint64_t how) {
  verify(shared, block);
  if (block.kind == Kind::pool) return tp_pool_return(shared.pools[block.owner], block.start);
  if (block.kind == Kind::heap && how % 2 == 0) return tp_heap_free(shared.heaps[block.owner], block.start);
  switch (how % 4) {
    case 0:
      if (block.kind == Kind::aligned) tp_free_aligned_sized(block.start, block.alignment, block.size);
      else tp_free_sized(block.start, block.size);
      return;
    case 1:
      if (tp_try_free(block.start)) return;
      shared.refused.fetch_add(1, std::memory_order_relaxed);
      return tp_free(block.start);
    default:
      return tp_free(block.start);
  }
}

void work(Shared& shared, unsigned number, uint64_t seed, uint64_t operations) {
  Worker(shared, number, seed).run(operations);
}

}  // namespace stress
