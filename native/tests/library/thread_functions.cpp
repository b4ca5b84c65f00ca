// thread_functions: detached threads that never allocate end in a child of fork, where the allocator has no thread of its
// own yet and reason to want one. The C library frees the memory of such threads inside of its own functions for threads,
// under a lock that making a thread needs as well. Ends with 0 when all threads have ended.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int rounds = 8;
constexpr int threads_at_once = 30;
constexpr size_t stack_bytes = size_t{4} << 20;  // so that the C library soon has more stacks than it keeps

sem_t started, may_end;

void* stay(void*) {
  sem_post(&started);
  while (sem_wait(&may_end) != 0) {
  }
  return nullptr;
}

int run_threads() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < threads_at_once; ++i) {
      pthread_t thread;
      if (pthread_create(&thread, &attributes, stay, nullptr) != 0) return 3;
    }
    for (int i = 0; i < threads_at_once; ++i) sem_wait(&started);
    for (int i = 0; i < threads_at_once; ++i) sem_post(&may_end);
  }
  // One more thread can still be made, and be waited for.
  pthread_t last;
  sem_post(&may_end);
  if (pthread_create(&last, nullptr, stay, nullptr) != 0) return 4;
  return pthread_join(last, nullptr) == 0 ? 0 : 5;
}

}  // namespace

int main() {
  constexpr size_t held = size_t{32} << 20;
  void* block = malloc(held);
  if (block == nullptr || sem_init(&started, 0, 0) != 0 || sem_init(&may_end, 0, 0) != 0) return 2;
  memset(block, 1, held);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a deadlock ends as a signal
    _exit(run_threads());
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 2;
  free(block);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
