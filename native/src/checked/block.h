// A block's life in the checked library: allocate, verify, release.
#pragma once

#include "checked/owner.h"
#include "checked/record.h"

namespace tp::check {

// What a call says of the block it is given. What it does not say is not compared.
struct Claim {
  const char* call;              // the entry point's name
  bool frees = true;
  bool with_owner = false;       // the block must be of this owner
  Owner* owner = nullptr;
  bool with_size = false;
  size_t size = 0;
  size_t alignment = 0;          // 0: not said
};

// owner: null for the process. alignment 0: none asked for. Null with errno when it cannot be had.
void* allocate_block(Owner* owner, size_t size, size_t alignment, bool zero);

// Reports and does nothing when the claim does not hold or the block is damaged.
void release_block(void* block, const Claim& claim);

// As the verification of release_block, alone: a copy of the record of a live, sound block. False: reported.
bool examine_block(const void* block, const Claim& claim, Record* record);

// A damaged block in quarantine is reported once, and stays out of use. Its shard's lock is held.
void note_damage(Record& record);

size_t total_live_bytes();

// Blocks that the heap or pool still has go with it: verified first (false: damage was reported and nothing was done),
// then remembered as destroyed.
bool verify_blocks_of(const Owner* owner, const char* call);
void destroy_blocks_of(Owner* owner, stacks::StackId stack);

// Every block of the process. False: the first damaged one was reported.
bool verify_all_blocks(const char* call);

}  // namespace tp::check
