// dlopen_loop LIBRARY ROUNDS MIB: loads the library, uses it from several threads, unloads it, again and again; threads
// that used it end after it was unloaded. Resident memory grows by at most MIB.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/memory.h"

namespace {

struct Functions {
  void* (*allocate)(size_t);
  void (*release)(void*);
  bool (*is_valid)();
};

Functions functions_of(void* library) {
  return {reinterpret_cast<void* (*)(size_t)>(dlsym(library, "tp_malloc")), reinterpret_cast<void (*)(void*)>(dlsym(library, "tp_free")),
          reinterpret_cast<bool (*)()>(dlsym(library, "tp_is_valid"))};
}

void use(const Functions& f) {
  for (size_t size : {16, 1000, 30000, 100000}) {
    void* block = f.allocate(size);
    memset(block, 1, size);
    f.release(block);
  }
}

bool one_round(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    puts(dlerror());
    return false;
  }
  Functions f = functions_of(library);
  std::atomic<int> used{0};
  std::atomic<bool> unloaded{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      use(f);
      used.fetch_add(1);
      while (!unloaded.load()) std::this_thread::yield();
    });
  }
  use(f);
  while (used.load() != 2) std::this_thread::yield();
  bool valid = f.is_valid();
  dlclose(library);
  unloaded.store(true);
  for (std::thread& thread : threads) thread.join();  // the destructor of their heaps runs now
  return valid;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  int rounds = atoi(arguments[2]);
  size_t early = 0;
  for (int i = 0; i < rounds; ++i) {
    if (!one_round(arguments[1])) return 1;
    if (i == rounds / 10) early = test::resident_bytes();
  }
  size_t late = test::resident_bytes();
  if (late <= early + (static_cast<size_t>(atoi(arguments[3])) << 20)) return 0;
  printf("grew by %zu bytes\n", late - early);
  return 1;
}
