// Counts the instructions of one malloc(64) and one free by stepping a child through them.
//
//   tidepool-bench-count [LIBRARY]     with LIBRARY preloaded; without, the C library's own
//
// The child warms the allocator up, then marks the begin and the end of each call by breakpoints. Between two marks the
// parent steps instruction by instruction and counts those outside of the child's own program: everything that the call
// executed, in whichever library. Branches are conditional ones. Exact, and needs no other program.
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

#if defined(__x86_64__)
inline void mark() { asm volatile("int3" ::: "memory"); }

std::uint64_t counter_of(const user_regs_struct& registers) { return registers.rip; }

void step_over_mark(user_regs_struct&) {}  // the counter stands behind it

// jcc with a short or a near distance, jrcxz and loops; the prefixes are a branch hint or bnd.
bool is_conditional_branch(const unsigned char* code) {
  while (*code == 0x2e || *code == 0x3e || *code == 0xf2) ++code;
  return (*code & 0xf0) == 0x70 || (*code & 0xfc) == 0xe0 || (code[0] == 0x0f && (code[1] & 0xf0) == 0x80);
}
#elif defined(__aarch64__)
inline void mark() { asm volatile("brk #0" ::: "memory"); }

std::uint64_t counter_of(const user_regs_struct& registers) { return registers.pc; }

void step_over_mark(user_regs_struct& registers) { registers.pc += 4; }

// b.cond, cbz and cbnz, tbz and tbnz
bool is_conditional_branch(const unsigned char* code) {
  std::uint32_t word;
  std::memcpy(&word, code, sizeof(word));
  return (word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000 || (word & 0x7e000000) == 0x36000000;
}
#else
#error "no decoder of conditional branches for this processor"
#endif

constexpr std::size_t block_size = 64;

void* volatile kept[64];

// What is counted. The pointers are volatile so that each call is a call.
int run_child() {
  void* (*volatile allocate)(std::size_t) = std::malloc;
  void (*volatile release)(void*) = std::free;
  for (int round = 0; round < 100; ++round) {
    for (auto& block : kept) block = allocate(block_size);
    for (auto& block : kept) release(block);
  }
  // Some stay: a page that becomes empty and a full thread cache are other paths than the one that is meant.
  for (int i = 0; i < 4; ++i) kept[i] = allocate(block_size);
  release(allocate(block_size));
  mark();
  void* block = allocate(block_size);
  mark();
  mark();
  release(block);
  mark();
  return 0;
}

struct counts {
  long instructions = 0;
  long branches = 0;
};

class tracer {
 public:
  explicit tracer(pid_t child) : child_(child) {}

  // Lets the child run to the next mark.
  bool run_to_mark() { return resume(PTRACE_CONT); }

  // Counts from the mark where the child stands to the next one.
  bool count_to_mark(counts& result) {
    while (true) {
      std::uint64_t at = place();
      unsigned char code[16];
      std::uint64_t words[2] = {static_cast<std::uint64_t>(ptrace(PTRACE_PEEKTEXT, child_, at, nullptr)),
                                static_cast<std::uint64_t>(ptrace(PTRACE_PEEKTEXT, child_, at + 8, nullptr))};
      std::memcpy(code, words, sizeof(code));
      if (!resume(PTRACE_SINGLESTEP)) return false;
      if (is_at_mark()) return true;
      if (own_begin_ <= at && at < own_end_) continue;
      ++result.instructions;
      if (is_conditional_branch(code)) ++result.branches;
    }
  }

  // Where the child's own program is mapped: everything else is the allocator's.
  bool find_own_program() {
    char path[64], line[1024], own[512];
    std::snprintf(path, sizeof(path), "/proc/%d/exe", child_);
    ssize_t length = readlink(path, own, sizeof(own) - 1);
    if (length <= 0) return false;
    own[length] = 0;
    std::snprintf(path, sizeof(path), "/proc/%d/maps", child_);
    std::FILE* maps = std::fopen(path, "r");
    if (maps == nullptr) return false;
    while (std::fgets(line, sizeof(line), maps) != nullptr) {
      unsigned long begin, end;
      if (std::strstr(line, own) == nullptr || std::sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
      if (own_end_ == 0) own_begin_ = begin;
      own_end_ = end;
    }
    std::fclose(maps);
    return own_end_ != 0;
  }

 private:
  bool resume(__ptrace_request how) {
    if (is_at_mark_ && !leave_mark()) return false;
    int status;
    if (ptrace(how, child_, nullptr, nullptr) != 0 || waitpid(child_, &status, 0) != child_) return false;
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return false;
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, child_, nullptr, &info) != 0) return false;
    is_at_mark_ = info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT;
    return true;
  }

  bool is_at_mark() const { return is_at_mark_; }

  bool leave_mark() {
    user_regs_struct registers;
    iovec part{&registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, child_, NT_PRSTATUS, &part) != 0) return false;
    step_over_mark(registers);
    is_at_mark_ = false;
    return ptrace(PTRACE_SETREGSET, child_, NT_PRSTATUS, &part) == 0;
  }

  std::uint64_t place() const {
    user_regs_struct registers;
    iovec part{&registers, sizeof(registers)};
    return ptrace(PTRACE_GETREGSET, child_, NT_PRSTATUS, &part) == 0 ? counter_of(registers) : 0;
  }

  pid_t child_;
  bool is_at_mark_ = false;
  std::uint64_t own_begin_ = 0, own_end_ = 0;
};

int trace(const char* self, const char* library) {
  pid_t child = fork();
  if (child == 0) {
    if (library != nullptr) setenv("LD_PRELOAD", library, 1);
    setenv("LD_BIND_NOW", "1", 1);
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(3);
    execl("/proc/self/exe", self, "--child", nullptr);
    _exit(3);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
    std::fprintf(stderr, "a child may not be traced here (ptrace)\n");
    return 3;
  }
  tracer steps(child);
  counts allocating, releasing;
  bool done = steps.run_to_mark() && steps.find_own_program() && steps.count_to_mark(allocating) && steps.run_to_mark() &&
              steps.count_to_mark(releasing);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  if (!done || allocating.instructions == 0 || releasing.instructions == 0) {
    std::fprintf(stderr, "the child ended before its last mark\n");
    return 1;
  }
  std::printf("malloc_instructions_count %ld\nmalloc_branches_count %ld\n"
              "free_instructions_count %ld\nfree_branches_count %ld\n", allocating.instructions,
              allocating.branches, releasing.instructions, releasing.branches);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "--child") == 0) return run_child();
  return trace(arguments[0], count > 1 ? arguments[1] : nullptr);
}
