// Owners: the heaps and pools of the checked library, to which tp_heap* and tp_pool* point.
//
// Owners lie in one table that the program's memory never overlaps, and the place of a destroyed one is used again only
// after 4,096 others were destroyed: that is how a pointer to a destroyed heap is told from any other.
#pragma once

#include "checked/record.h"
#include "os/lock.h"

namespace tp {
struct Heap;
}

namespace tp::check {

enum class OwnerKind : uint8_t { none, heap, pool, destroyed_heap, destroyed_pool };

struct alignas(64) Owner {
  detail::fast_pool front;  // bin 0: the inline headers call the library
  std::atomic<OwnerKind> kind;
  bool zero_on_free;
  uint8_t alignment_log2;   // of a pool's blocks
  uint32_t serial;
  Heap* heap;               // the core's
  size_t block_size;        // of a pool
  std::atomic<size_t> live_bytes;
  stacks::StackId created;
  stacks::StackId destroyed;
  Owner* next_free;
  uint64_t signature;       // of the address and serial
  char name[32];
  std::atomic<uint32_t> returning;  // blocks on their way into quarantine, or from there to the heap
};

// Makes an owner, without a heap yet. Null: out of memory.
Owner* make_owner(OwnerKind kind, const char* name);

// Undoes make_owner, when the heap could not be made.
void abandon_owner(Owner* owner);

// Ends an owner and remembers its pointer as that of a destroyed heap or pool.
void retire_owner(Owner* owner, stacks::StackId stack);

// Returns the owner behind the program's pointer when it is alive and of this kind; otherwise reports and returns null. call:
// the entry point's name.
Owner* verify_owner(const void* pointer, OwnerKind kind, const char* call);

size_t count_owners(OwnerKind kind);

inline const char* noun_of(OwnerKind kind) {
  return kind == OwnerKind::pool || kind == OwnerKind::destroyed_pool ? "pool" : "heap";
}

void lock_owners();
void unlock_owners();
void reset_owners();  // in the child of a fork, where threads that returned blocks do not exist

}  // namespace tp::check
