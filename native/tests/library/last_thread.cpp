// last_thread: main leaves by pthread_exit, and so does the child of a fork; both processes end when their last thread
// does, although the allocator was busy enough to want a thread of its own. Prints a line for each thread that ends.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace {

void be_busy() {
  std::vector<void*> blocks(40000);
  for (void*& block : blocks) {
    block = malloc(1000);
    memset(block, 1, 1000);
  }
  for (void* block : blocks) free(block);
}

void* run(void* name) {
  be_busy();
  puts(static_cast<const char*>(name));
  fflush(stdout);
  return nullptr;
}

void* fork_and_run(void*) {
  be_busy();
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread;
    static char name[] = "thread of the child";
    pthread_create(&thread, nullptr, run, name);
    return nullptr;  // this thread is all that the child began with
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) _exit(3);
  static char name[] = "thread of the parent";
  return run(name);
}

}  // namespace

int main() {
  be_busy();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, fork_and_run, nullptr) != 0) return 2;
  pthread_exit(nullptr);
}
