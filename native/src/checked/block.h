// Allocates, verifies and frees blocks of the checked library.
#pragma once

#include "checked/owner.h"
#include "checked/record.h"

namespace tp::check {

// A claim of a call about its block. Only stated parts are compared.
struct Claim {
  const char* call;              // the entry point's name
  bool frees = true;
  bool with_owner = false;       // the block must be of this owner
  Owner* owner = nullptr;
  bool with_size = false;
  size_t size = 0;
  size_t alignment = 0;          // 0: not said
};

// Allocates a block. owner: null for the process. alignment 0: none asked for. Null with errno: out of memory.
void* allocate_block(Owner* owner, size_t size, size_t alignment, bool zero);

// Frees a block. Reports and does nothing when the claim does not hold or the block is damaged.
void release_block(void* block, const Claim& claim);

// Verifies as release_block does, and copies the record of a live, sound block. False: reported.
bool examine_block(const void* block, const Claim& claim, Record* record);

// Reports a block that was damaged in quarantine once, and keeps it out of use. Its shard's lock is held.
void note_damage(Record& record);

size_t total_live_bytes();

// Blocks that the heap or pool still has go with it: verified first (false: damage was reported and nothing was done),
// then remembered as destroyed.
bool verify_blocks_of(const Owner* owner, const char* call);
void destroy_blocks_of(Owner* owner, stacks::StackId stack);

// Verifies every block of the process. False: the first damaged one was reported.
bool verify_all_blocks(const char* call);

}  // namespace tp::check
