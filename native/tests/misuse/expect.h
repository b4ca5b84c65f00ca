// One misuse, run twice in a process of its own: with the default handler, which must abort after one line that names
// what happened, the address and the size; and with a handler that returns, after which the call must have done nothing.
#pragma once

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tidepool/tidepool.h"

namespace misuse {

// The compiler may not see through this: what is done here is wrong on purpose.
template <typename T>
inline T* opaque(T* pointer) {
  asm volatile("" : "+r"(pointer) : : "memory");
  return pointer;
}

// Calls that must show up as call sites may not be tail calls.
inline void keep_frame() { asm volatile("" : : : "memory"); }

// What parent and child share.
struct Shared {
  const void* address;  // that the message has to name: set by the misuse
  size_t size;          // 0: not known to the library
  int calls;            // of the handler
  tp_misuse kind;
  const void* seen_address;
  size_t seen_size;
  char message[2048];
};
inline Shared* shared;

inline void expect_address(const void* address, size_t size) {
  shared->address = address;
  shared->size = size;
}

struct Case {
  const char* name;
  tp_misuse kind;
  void (*misuse)();                   // calls expect_address, then misuses
  void (*after)() = nullptr;          // in the child, once the handler has returned: exits with 1 when something was done
  const void* allocated_at = nullptr;  // functions that the message has to name as call sites
  const void* freed_at = nullptr;
  const char* words = nullptr;        // that the message has to contain
  int64_t guard_rate = 0;
  bool at_exit = false;               // found when the process ends
};

inline void record(tp_misuse kind, const void* address, size_t size, const char* message) {
  ++shared->calls;
  shared->kind = kind;
  shared->seen_address = address;
  shared->seen_size = size;
  strncpy(shared->message, message, sizeof(shared->message) - 1);
}

struct Outcome {
  int status;
  std::string output;  // standard error
};

inline Outcome run_child(const Case& test, bool with_handler) {
  memset(shared, 0, sizeof(Shared));
  int channel[2];
  if (pipe(channel) != 0) abort();
  pid_t child = fork();
  if (child == 0) {
    dup2(channel[1], 2);
    close(channel[0]);
    alarm(60);
    tp_set_option(tp_option_leak_check, test.kind == tp_misuse_leak);
    tp_set_option(tp_option_guard_rate, test.guard_rate);
    if (with_handler) tp_set_misuse_handler(record);
    test.misuse();
    if (with_handler && test.after != nullptr) test.after();
    exit(0);
  }
  close(channel[1]);
  Outcome outcome{};
  char part[512];
  for (ssize_t length; (length = read(channel[0], part, sizeof(part))) > 0;) outcome.output.append(part, static_cast<size_t>(length));
  close(channel[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

inline bool fail(const Case& test, const char* what, const std::string& detail) {
  fprintf(stderr, "%s: %s: %s\n", test.name, what, detail.c_str());
  return false;
}

// True when the call site behind the given words lies in the function: "allocated at name+0x1 (program+0x2)".
inline bool names_site(const std::string& message, const char* words, const void* function) {
  size_t at = message.find(words);
  if (at == std::string::npos) return false;
  at = message.find("+0x", message.find('(', at));
  if (at == std::string::npos) return false;
  size_t offset = strtoull(message.c_str() + at + 3, nullptr, 16);
  Dl_info info{};
  if (dladdr(function, &info) == 0) return false;
  size_t begin = static_cast<size_t>(static_cast<const char*>(function) - static_cast<const char*>(info.dli_fbase));
  return offset > begin && offset < begin + 256;
}

inline bool check_message(const Case& test, const std::string& message) {
  char address[32];
  snprintf(address, sizeof(address), "0x%zx", reinterpret_cast<size_t>(shared->address));
  if (message.find(address) == std::string::npos) return fail(test, "the message does not name the address", message);
  std::string size = std::to_string(shared->size) + " bytes";
  if (shared->size != 0 && message.find(size) == std::string::npos) return fail(test, "the message does not name the size", message);
  if (test.words != nullptr && message.find(test.words) == std::string::npos) return fail(test, test.words, message);
  if (test.allocated_at != nullptr && !names_site(message, "allocated at ", test.allocated_at)) {
    return fail(test, "the message does not name where it was allocated", message);
  }
  if (test.freed_at != nullptr && !names_site(message, "freed at ", test.freed_at)) {
    return fail(test, "the message does not name where it was freed", message);
  }
  return message.find('\n') == std::string::npos || fail(test, "the message has several lines", message);
}

// The line of the default handler: a leak at exit has its list before it.
inline std::string last_line(std::string output) {
  if (!output.empty() && output.back() == '\n') output.pop_back();
  size_t start = output.rfind('\n');
  return start == std::string::npos ? output : output.substr(start + 1);
}

inline bool aborts_with_message(const Case& test) {
  Outcome outcome = run_child(test, false);
  if (!WIFSIGNALED(outcome.status) || WTERMSIG(outcome.status) != SIGABRT) {
    return fail(test, "did not abort", std::to_string(outcome.status) + " " + outcome.output);
  }
  std::string line = last_line(outcome.output);
  if (line.rfind("tidepool: ", 0) != 0) return fail(test, "not a message of the library", line);
  if (test.kind != tp_misuse_leak && line.size() + 1 != outcome.output.size()) return fail(test, "more than one line", outcome.output);
  return check_message(test, line);
}

// A fault at a guard page cannot be ignored: there the process ends by the signal after the handler has returned.
inline bool handler_is_told(const Case& test) {
  Outcome outcome = run_child(test, true);
  bool ended = test.guard_rate != 0 ? WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == SIGSEGV
                                    : WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 0;
  if (!ended) return fail(test, "ended differently", std::to_string(outcome.status) + " " + outcome.output);
  if (shared->calls != 1) return fail(test, "calls of the handler", std::to_string(shared->calls) + " " + shared->message);
  if (shared->kind != test.kind) return fail(test, "wrong kind", shared->message);
  if (shared->seen_address != shared->address) return fail(test, "wrong address", shared->message);
  if (shared->seen_size != shared->size) return fail(test, "wrong size", shared->message);
  return check_message(test, shared->message);
}

template <size_t Count>
int run(const Case (&tests)[Count]) {
  shared = static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  int failures = 0;
  for (const Case& test : tests) {
    bool passed = aborts_with_message(test) && handler_is_told(test);
    printf("%s %s\n", passed ? "ok" : "FAILED", test.name);
    fflush(stdout);  // or every child would write it again
    if (!passed) ++failures;
  }
  return failures != 0;
}

// In `after`: ends the child with a failure unless the condition holds.
inline void require(bool condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "%s\n", what);
  _exit(1);
}

// The usual call sites.
[[gnu::noinline]] inline void* allocate_here(size_t size) {
  void* block = opaque(tp_malloc(size));
  keep_frame();
  return block;
}

[[gnu::noinline]] inline void free_here(void* block) {
  tp_free(opaque(block));
  keep_frame();
}

template <typename Function>
const void* site(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace misuse
