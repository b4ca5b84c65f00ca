// Handlers of fork: they take every lock of the library before it, in the order of locks, and release them after it. The child
// adopts the heaps of threads that do not exist there.
#pragma once

namespace tp {

// Registers the handlers with the system, once: when the library is loaded, or after the first thread has its heap when a
// constructor that ran earlier allocates. Allocates.
void set_up_fork();

// The part of a layer above the heaps: runs before the heaps' locks are taken, and after they are free again.
struct ForkHooks {
  void (*before)();
  void (*after_in_parent)();
  void (*after_in_child)();
};

// Sets the hooks, before any lock that they take is held for the first time. One layer has hooks: the checked library.
void set_fork_hooks(const ForkHooks* hooks);

}  // namespace tp
