// Blocks are live when the process ends.
#include "expect.h"

using namespace misuse;

static void one_block() { expect_address(allocate_here(1234), 1234); }

// The oldest is named; the line counts all.
static void several() {
  void* first = allocate_here(100);
  expect_address(first, 100);
  for (int i = 0; i < 9; ++i) opaque(allocate_here(50));
}

static void of_a_heap() {
  tp_heap* heap = tp_heap_create(nullptr);
  void* block = opaque(tp_heap_malloc(heap, 77));
  expect_address(block, 77);
}

// What the program printed is not lost when the report aborts.
static bool output_survives() {
  int channel[2];
  if (pipe(channel) != 0) abort();
  pid_t child = fork();
  if (child == 0) {
    dup2(channel[1], 1);
    close(2);
    printf("the result is 42\n");
    opaque(allocate_here(10));
    exit(0);
  }
  close(channel[1]);
  char text[64] = {};
  ssize_t length = read(channel[0], text, sizeof(text) - 1);
  int status = 0;
  waitpid(child, &status, 0);
  bool passed = length > 0 && strcmp(text, "the result is 42\n") == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  printf("%s output survives\n", passed ? "ok" : "FAILED");
  fflush(stdout);
  return passed;
}

int main() {
  auto* at = site(allocate_here);
  int failed = output_survives() ? 0 : 1;
  return failed | run<3>({
      {"one block", tp_misuse_leak, one_block, nullptr, at, nullptr, "leak: 1 block, 1234 bytes"},
      {"several blocks", tp_misuse_leak, several, nullptr, at, nullptr, "leak: 10 blocks, 550 bytes"},
      {"block of a heap", tp_misuse_leak, of_a_heap, nullptr, nullptr, nullptr, "leak: 1 block, 77 bytes"},
  });
}
