// The sample log: every sample of the heap profile and its free, in the order in which they came, for `tidepool advise`. It is a
// file that is mapped into memory: what was recorded is complete however the process ends. It never calls the allocator.
//
// The file is "PREFIX.PROCESS", or "PREFIX.PROCESS.1" and so on where a name is taken: a program that executes another keeps its
// number, and processes of two sandboxes may have one. It is always a new file, and never what a symbolic link leads to. It grows
// from 64 KiB, since most processes of a command record little.
//
// A header, then records of 64-bit words. The first word of a record has its kind in the lowest 8 bits, its length in words in the
// next 24, and an argument in the upper 32:
//
//   kind        argument               words behind the first
//   module      bytes of the path      load address, first address, address behind the last, path padded with zeros
//   stack       its number             return addresses, innermost first
//   allocation  its stack              address (0: not followed), time, size asked for, thread (low half) and blocks it stands for
//   release     thread                 address, time
//   classes     how many               the sizes of the classes, ascending
//
// Times are nanoseconds of CLOCK_MONOTONIC. A module and a stack come before the first record that needs them.
#pragma once

#include <atomic>

#include "base/config.h"
#include "profile/stacks.h"

namespace tp::profile::sample_log {

inline constexpr uint32_t version = 1;

struct Header {
  char magic[16];  // "tidepool-samples"
  uint32_t version;
  uint32_t header_bytes;  // the first record lies behind so many
  uint64_t mean_bytes;
  uint64_t start;    // time
  uint64_t process;
  std::atomic<uint64_t> used;  // bytes of complete records
  std::atomic<uint64_t> lost;  // records that found no room
};

// Begins a log, at most once and before the first sample; a prefix of null: none. A child of a fork begins its own with its first
// sample, with the modules that its parent knew. Writes a line on standard error, and leaves no file, when none can be made.
void open(const char* prefix, uint64_t mean_bytes);

bool is_open();

// Records the frames of a stack, unless the log has them, and all modules before a frame outside of those it has. Call it without
// locks: only the loader knows modules.
void note_stack(stacks::StackId stack);

// Calls for one block must come in their order.
void note_allocation(const void* block, size_t requested, stacks::StackId stack, uint32_t blocks);
void note_release(const void* block);

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

}  // namespace tp::profile::sample_log
