// Descriptions of the 64 KiB slices of an arena, kept apart from the memory itself.
#pragma once

#include <atomic>

#include "base/config.h"
#include "pages/free_list.h"
#include "pages/remote_word.h"
#include "pages/stamp.h"

namespace tp {

struct Heap;

enum class PageKind : uint8_t {
  unused = 0,  // never used, or inside of a free run or of a large block
  small,       // first slice of a page of equal blocks
  inner,       // later slice of such a page: `first` leads back
  large,       // first slice of one large block
  free,        // first or last slice of a free run
  meta         // tables of the library
};

// A page: slices of one arena with blocks of one size. The same 64 bytes describe large blocks and free runs.
//
// Blocks are in one of five places: with the renter or in a magazine (both count as used), in `free`, in the
// remote chain (still counted as used), not carved yet, or lost: their memory went back to the system and their links with it.
//   carved = used + length(free) + lost
struct alignas(64) Page {
  std::atomic<uint64_t> remote;  // RemoteWord
  std::atomic<Heap*> owner;      // changes only under the old owner's lock, and only while the page is listed
  FreeList free;         // blocks at hand; owner's lock
  uint32_t used;
  uint32_t carved;      // blocks that were handed out at least once; of free runs: milliseconds that they stay beyond the option's
                        // delay; of large blocks: slices at the end that a realloc left for the next ones
  uint32_t capacity;    // blocks that fit; of free runs and large blocks: their length in slices
  uint32_t block_size;
  uint32_t reciprocal;  // 2^32 / block_size, rounded up
  uint32_t prev, next;  // in the owner's queue, or in a list of free runs
  uint32_t pending;     // next on the owner's pending stack; of free runs: the purge that the system refused it to
  uint32_t stamp;       // milliseconds when a block last came back, or when the run became free
  std::atomic<PageKind> kind;  // read by neighbours under the arena's lock, hence atomic
  uint8_t bin;     // which queue of the owner; of free runs: 1 when dirty
  uint8_t first;   // of inner slices: how many slices back the page begins
  uint8_t slices;  // of small pages

  bool is(PageKind k) const { return kind.load(std::memory_order_relaxed) == k; }
  void set_kind(PageKind k) { kind.store(k, std::memory_order_relaxed); }
  bool dirty() const { return bin != 0; }
  uint32_t run_length() const { return capacity; }
  uint32_t headroom() const { return carved; }
  size_t usable_length() const { return size_t{run_length() - headroom()} << slice_shift; }  // of large blocks
  void set_headroom(uint32_t at_end) { carved = at_end; }
  uint32_t refused_in() const { return pending; }
  void set_refused_in(uint32_t purge) { pending = purge; }
  IdleSince idle_since() const { return {stamp, carved}; }
  void set_idle_since(IdleSince since) { stamp = since.stamp, carved = since.extra_ms; }

  void clear() {
    remote.store(0, std::memory_order_relaxed);
    owner.store(nullptr, std::memory_order_relaxed);
    free = {};
    used = carved = capacity = block_size = reciprocal = prev = next = pending = stamp = 0;
    set_kind(PageKind::unused);
    bin = first = slices = 0;
  }
};
static_assert(sizeof(Page) == 64);

// The part of a page's description that is needed only once memory goes back to the system.
struct Discarded {
  uint64_t units;  // bit i: the i-th 4 KiB of the page have been discarded
  uint32_t lost;   // blocks that lie in them
  uint32_t seen;   // used + 1 when the page was last looked at: nothing to do until it changes
};

// How the pages of a bin are cut.
struct Shape {
  uint32_t block_size;
  uint32_t slices;
  uint32_t capacity;
  uint32_t reciprocal;
};

}  // namespace tp
