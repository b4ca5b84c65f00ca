// The free blocks of a page, as a chain of batches. A batch lies in one of the free blocks and names others of the page
// by their unit: offset / 16, 16 bits, for pages have at most 1 MiB.
//
//   batch:  next batch (unit + 1) | how many entries | entry ... entry       as many as the block has room for, at most 125
//
// Against blocks that are linked one by one this touches a fraction of the cache lines: a block that is only named is
// not touched when it is freed and rented again, and a core that takes the blocks that another one gave back waits for
// one line a batch instead of for one a block, each after the other.
#pragma once

#include "base/config.h"

namespace tp {

struct Batch {
  uint32_t next;
  uint16_t count;
  uint16_t* entries() { return &count + 1; }
};

constexpr uint32_t batch_capacity(uint32_t block_size) {
  uint32_t room = (block_size - 6) / 2;
  return room < 125 ? room : 125;
}

// How the blocks of a page lie.
struct BlockGrid {
  uintptr_t base;
  uintptr_t bytes;
  uint32_t block_size;
  uint32_t reciprocal;  // 2^32 / block_size, rounded up
};

constexpr uint32_t reciprocal_of(uint32_t size) { return static_cast<uint32_t>(((uint64_t{1} << 32) + size - 1) / size); }

// True when offset is a multiple of the block size: one multiplication instead of a division. Exact for every multiple
// k * size < 2^20, since k * (size * reciprocal - 2^32) < 2^32 then; other offsets are no q * size.
inline bool is_block_offset(uint32_t offset, uint32_t block_size, uint32_t reciprocal) {
  auto index = static_cast<uint32_t>((uint64_t{offset} * reciprocal) >> 32);
  return index * block_size == offset;
}

// Not thread-safe; zero is the empty list. base is the page's address.
class FreeList {
 public:
  uint32_t first = 0;  // unit + 1 of the first batch

  bool empty() const { return first == 0; }

  static Batch* batch_at(uintptr_t base, uint32_t unit_plus_1) {
    return reinterpret_cast<Batch*>(base + (uintptr_t{unit_plus_1 - 1} << 4));
  }

  // Adds one block of the page.
  void push(const BlockGrid& grid, void* block);

  // Takes up to most blocks; returns how many.
  uint32_t pop(uintptr_t base, void** blocks, uint32_t most) {
    uint32_t taken = 0;
    while (first != 0 && taken < most) {
      Batch* batch = batch_at(base, first);
      uint32_t left = batch->count;
      while (left != 0 && taken < most) {
        blocks[taken++] = reinterpret_cast<void*>(base + (uintptr_t{batch->entries()[--left]} << 4));
      }
      batch->count = static_cast<uint16_t>(left);
      if (taken == most) break;
      blocks[taken++] = batch;
      first = batch->next;
    }
    return taken;
  }

  // Puts a chain of batches in front; last is its last batch.
  void prepend(uint32_t chain, Batch* last) {
    last->next = first;
    first = chain;
  }

  // visit(block) for every block; it may overwrite the block, for a block's turn comes after everything in it was read.
  template <class Visitor>
  void for_each(uintptr_t base, Visitor visit) const {
    for (uint32_t at = first; at != 0;) {
      Batch* batch = batch_at(base, at);
      uint32_t next = batch->next, count = batch->count;
      for (uint32_t i = 0; i < count; ++i) visit(reinterpret_cast<void*>(base + (uintptr_t{batch->entries()[i]} << 4)));
      visit(static_cast<void*>(batch));
      at = next;
    }
  }
};

// A free list that blocks are being added to.
class OpenFreeList {
 public:
  OpenFreeList(const BlockGrid& grid, FreeList list)
      : grid_(grid),
        list_(list),
        batch_(list.empty() ? nullptr : FreeList::batch_at(grid.base, list.first)),
        capacity_(batch_capacity(grid.block_size)),
        filled_(batch_ != nullptr ? batch_->count : capacity_) {}

  // Adds blocks up to the first that does not lie on the grid; returns how many. Some twelve instructions a block: this
  // loop sees every block of a program that frees more than its magazines hold.
  uint32_t push(void* const* blocks, uint32_t most) {
    const BlockGrid grid = grid_;
    Batch* batch = batch_;
    uint32_t filled = filled_;
    uint32_t added = 0;
    for (; added < most; ++added) {
      uintptr_t offset = reinterpret_cast<uintptr_t>(blocks[added]) - grid.base;
      if (offset >= grid.bytes) break;
      if (TP_UNLIKELY(!is_block_offset(static_cast<uint32_t>(offset), grid.block_size, grid.reciprocal))) break;
      auto unit = static_cast<uint32_t>(offset >> 4);
      if (filled != capacity_) {
        batch->entries()[filled++] = static_cast<uint16_t>(unit);
        continue;
      }
      if (batch != nullptr) batch->count = static_cast<uint16_t>(filled);
      batch = static_cast<Batch*>(blocks[added]);
      batch->next = list_.first;
      list_.first = unit + 1;
      filled = 0;
    }
    batch_ = batch;
    filled_ = filled;
    return added;
  }

  bool covers(const void* block) const { return reinterpret_cast<uintptr_t>(block) - grid_.base < grid_.bytes; }

  FreeList close() {
    if (batch_ != nullptr) batch_->count = static_cast<uint16_t>(filled_);
    return list_;
  }

 private:
  BlockGrid grid_;
  FreeList list_;
  Batch* batch_;
  uint32_t capacity_;
  uint32_t filled_;
};

inline void FreeList::push(const BlockGrid& grid, void* block) {
  OpenFreeList open(grid, *this);
  open.push(&block, 1);
  *this = open.close();
}

}  // namespace tp
