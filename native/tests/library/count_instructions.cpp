// count_instructions ALLOCATE USE: counts, by single steps of the processor, the instructions and jumps of one call of each
// function with a block of 64 bytes, on the path where the thread has one at hand. Prints: instructions jumps, of each.
// Exit code 77: this system does not let a process trace its child, or it is another processor.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
namespace {

using Allocate = void* (*)(size_t);
using Use = void (*)(void*);  // frees a block or asks for its size

struct Count {
  long instructions = 0;
  long jumps = 0;  // conditional or not; returns and calls are none
};

bool step(pid_t child, user_regs_struct& registers) {
  int status = 0;
  if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
  return ptrace(PTRACE_GETREGS, child, nullptr, &registers) == 0;
}

bool is_jump(long word) {
  unsigned first = word & 0xff, second = (word >> 8) & 0xff;
  if (first == 0x0f) return second >= 0x80 && second <= 0x8f;
  return (first >= 0x70 && first <= 0x7f) || first == 0xe9 || first == 0xeb || (first == 0xff && (((second >> 3) & 7) == 4));
}

// Keeps the lesser count; one of no instructions is none yet.
void keep_least(Count& least, const Count& count) {
  if (least.instructions == 0 || count.instructions < least.instructions) least = count;
}

constexpr int pairs = 2;  // a block that is not freed may be the last one at hand, so the fewer instructions of two pairs count

// Steps to the function's first instruction, then counts until it has returned.
bool count_call(pid_t child, unsigned long function, Count& count) {
  user_regs_struct registers;
  do {
    if (!step(child, registers)) return false;
  } while (registers.rip != function);
  auto back = static_cast<unsigned long>(ptrace(PTRACE_PEEKDATA, child, registers.rsp, nullptr));
  while (registers.rip != back) {
    ++count.instructions;
    if (is_jump(ptrace(PTRACE_PEEKTEXT, child, registers.rip, nullptr))) ++count.jumps;
    if (!step(child, registers)) return false;
  }
  return true;
}

[[noreturn]] void run_child(Allocate allocate, Use use) {
  for (int i = 0; i < 100; ++i) {
    void* block = allocate(64);
    use(block);
  }
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
  raise(SIGSTOP);
  for (int i = 0; i < pairs; ++i) {
    void* block = allocate(64);
    use(block);
  }
  _exit(0);
}

}  // namespace

int main(int count, char** names) {
  if (count != 3) return 2;
  void* allocate = dlsym(RTLD_DEFAULT, names[1]);
  void* use = dlsym(RTLD_DEFAULT, names[2]);
  if (allocate == nullptr || use == nullptr) return 2;
  pid_t child = fork();
  if (child == 0) run_child(reinterpret_cast<Allocate>(allocate), reinterpret_cast<Use>(use));
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
    puts("ptrace is not allowed here");
    return 77;
  }
  Count least_of_allocate, least_of_use;
  for (int i = 0; i < pairs; ++i) {
    Count of_allocate, of_use;
    if (!count_call(child, reinterpret_cast<unsigned long>(allocate), of_allocate) ||
        !count_call(child, reinterpret_cast<unsigned long>(use), of_use)) {
      kill(child, SIGKILL);
      puts("single steps are not possible here");
      return 77;
    }
    keep_least(least_of_allocate, of_allocate);
    keep_least(least_of_use, of_use);
  }
  kill(child, SIGKILL);
  printf("%ld %ld %ld %ld\n", least_of_allocate.instructions, least_of_allocate.jumps, least_of_use.instructions, least_of_use.jumps);
  return 0;
}
#else
int main() {
  puts("counts the instructions of x86-64 only");
  return 77;
}
#endif
