// Call stacks as numbers: each different stack is stored once and never forgotten.
//
// A stack is the return addresses from the program's call into the library outwards; the library's own frames are left
// out where it is a shared library. Stack 0 is the unknown one: nothing was captured, or the store is full.
#pragma once

#include "base/config.h"
#include "base/report.h"

namespace tp::stacks {

using StackId = uint32_t;

inline constexpr unsigned most_frames = 32;
inline constexpr uint32_t most_stacks = 1u << 16;

// Captures the calling thread's stack, at most `depth` frames. Allocates nothing from the heap; takes a lock of its own for
// stacks that are new. Some microseconds.
StackId capture(unsigned depth);

struct Frames {
  const uintptr_t* addresses;
  unsigned count;
};
Frames frames_of(StackId id);

// Stacks are numbered 1 .. count().
uint32_t count();

// "main+0x1f (program+0x1234) < __libc_start_main+0x85 (libc.so.6+0x2724a)", innermost first, at most `most` frames.
void describe(Text& text, StackId id, unsigned most);

void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

}  // namespace tp::stacks
