// This library cannot see a read of a freed block; Valgrind can, because it is told of each block. The program runs
// itself under valgrind. Without it, it is skipped (exit code 77).
#include <unistd.h>

#include "expect.h"

using namespace misuse;

static void read(const char* what) {
  char* block = static_cast<char*>(allocate_here(40));
  if (strcmp(what, "past the end") == 0) {
    if (*static_cast<volatile char*>(opaque(block) + 48) == 1) keep_frame();
  } else if (strcmp(what, "freed") == 0) {
    free_here(block);
    if (*static_cast<volatile char*>(opaque(block) + 8) == 1) keep_frame();
  } else {
    memset(block, 0, 40);
    free_here(block);
    // The same addresses again and again, in other sizes.
    for (int round = 0; round < 3; ++round) {
      tp_purge(0);
      for (int i = 0; i < 100; ++i) tp_free(tp_zalloc(static_cast<size_t>(i) * 97));
    }
  }
}

static Outcome run_under_valgrind(const char* self, const char* what) {
  std::string command = std::string("valgrind -q --leak-check=full --error-exitcode=9 '") + self + "' '" + what + "' 2>&1";
  Outcome outcome{};
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) abort();
  char part[512];
  while (fgets(part, sizeof(part), output) != nullptr) outcome.output += part;
  outcome.status = pclose(output);
  return outcome;
}

static bool passes(const char* self, const char* what, int code, const char* words) {
  Outcome outcome = run_under_valgrind(self, what);
  bool passed = WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == code && outcome.output.find(words) != std::string::npos;
  printf("%s %s\n", passed ? "ok" : "FAILED", what);
  if (!passed) printf("%s\n", outcome.output.c_str());
  return passed;
}

int main(int count, char** arguments) {
  if (count > 1) {
    tp_set_option(tp_option_leak_check, 0);
    if (strcmp(arguments[1], "guarded blocks") == 0) tp_set_option(tp_option_guard_rate, 1);
    read(arguments[1]);
    return 0;
  }
  if (system("valgrind --version >/dev/null 2>&1") != 0) {
    printf("valgrind is missing: apt-get install valgrind\n");
    return 77;
  }
  bool passed = passes(arguments[0], "freed", 9, "inside a block of size 40 free'd");
  passed = passes(arguments[0], "past the end", 9, "Invalid read") && passed;
  passed = passes(arguments[0], "nothing wrong", 0, "") && passed;
  passed = passes(arguments[0], "guarded blocks", 0, "") && passed;
  return passed ? 0 : 1;
}
