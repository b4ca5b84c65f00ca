// Hooks of a fork: they run once each, while the heaps can be used.
#include "heap/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/process.h"
#include "tidepool/tidepool.h"

namespace {

using namespace tp;

int before, after_in_parent, after_in_child;

// A large block takes the heap's lock and that of the arenas.
void use_heaps() { tp_free(tp_malloc(size_t{64} << 20)); }

constexpr ForkHooks hooks{
    [] {
      use_heaps();
      ++before;
    },
    [] {
      use_heaps();
      ++after_in_parent;
    },
    [] {
      use_heaps();
      ++after_in_child;
    },
};

int exit_code_of(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkHooks, RunOutsideOfTheHeapsLocks) {
  IN_A_PROCESS_OF_ITS_OWN({
    alarm(60);  // a lock that is taken would be waited for without end
    use_heaps();
    set_fork_hooks(&hooks);
    pid_t child = fork();
    if (child == 0) _exit(before == 1 && after_in_parent == 0 && after_in_child == 1 ? 0 : 1);
    EXPECT_EQ(0, exit_code_of(child));
    EXPECT_EQ(1, before);
    EXPECT_EQ(1, after_in_parent);
    EXPECT_EQ(0, after_in_child);
  });
}

}  // namespace
