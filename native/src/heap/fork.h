// What a fork needs: every lock of the library is taken before it, in the order of locks, and is free after it. The child
// adopts the heaps of threads that do not exist there.
#pragma once

namespace tp {

// Registers the handlers with the system, once: when the library is loaded, or after the first thread has its heap when a
// constructor that ran earlier allocates. Allocates.
void set_up_fork();

// What a layer above the heaps does at a fork: before the heaps' locks are taken, and after they are free again.
struct ForkHooks {
  void (*before)();
  void (*after_in_parent)();
  void (*after_in_child)();
};

// Before any lock that the hooks take is held for the first time. There is one layer that has hooks: the checked library.
void set_fork_hooks(const ForkHooks* hooks);

}  // namespace tp
