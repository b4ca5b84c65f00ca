// new_delete [ours]: every form of operator new and delete, and what they do when memory is used up. Runs with any malloc
// under which memory is limited.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "support/pattern.h"

namespace {

bool (*owns)(const void*);
int failures = 0;
volatile size_t huge = SIZE_MAX / 2;

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      printf("line %d: %s\n", __LINE__, #condition);                      \
      ++failures;                                                         \
    }                                                                     \
  } while (false)

bool good(const void* block, size_t alignment) {
  return block != nullptr && test::is_aligned(block, alignment) && (owns == nullptr || owns(block));
}

void every_form() {
  for (size_t size : {0, 1, 40, 1000, 30000, 100000}) {
    for (size_t alignment : {8, 64, 4096}) {
      std::align_val_t aligned{alignment};
      void* blocks[] = {
          operator new(size),          operator new[](size),          operator new(size, std::nothrow),
          operator new[](size, std::nothrow), operator new(size, aligned),   operator new[](size, aligned),
          operator new(size, aligned, std::nothrow), operator new[](size, aligned, std::nothrow),
      };
      for (int i = 0; i < 8; ++i) {
        CHECK(good(blocks[i], i < 4 ? 16 : alignment));
        test::fill(blocks[i], size, 1);
      }
      for (void* block : blocks) CHECK(test::is_filled(block, size, 1));
      operator delete(blocks[0]);
      operator delete[](blocks[1]);
      operator delete(blocks[2], std::nothrow);
      operator delete[](blocks[3], std::nothrow);
      operator delete(blocks[4], aligned);
      operator delete[](blocks[5], aligned);
      operator delete(blocks[6], aligned, std::nothrow);
      operator delete[](blocks[7], aligned, std::nothrow);
      operator delete(operator new(size), size);
      operator delete[](operator new[](size), size);
      operator delete(operator new(size, aligned), size, aligned);
      operator delete[](operator new[](size, aligned), size, aligned);
    }
  }
  operator delete(nullptr);
  operator delete(nullptr, std::align_val_t{64});
}

template <typename Allocate>
bool throws(Allocate allocate) {
  try {
    void* volatile block = allocate();
    free(block);  // not reached
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

void used_up() {
  CHECK(throws([] { return operator new(huge); }));
  CHECK(throws([] { return operator new[](huge); }));
  CHECK(throws([] { return operator new(huge, std::align_val_t{64}); }));
  CHECK(throws([] { return operator new[](huge, std::align_val_t{64}); }));
  CHECK(operator new(huge, std::nothrow) == nullptr);
  CHECK(operator new[](huge, std::nothrow) == nullptr);
  CHECK(operator new(huge, std::align_val_t{64}, std::nothrow) == nullptr);
  CHECK(operator new[](huge, std::align_val_t{64}, std::nothrow) == nullptr);
  CHECK(throws([] { return operator new(100, std::align_val_t{size_t{1} << 62}); }));
}

int handled = 0;
void* reserve = nullptr;

// The exception passes frames that have something to clean up.
struct Cleaned {
  explicit Cleaned(int* count) : count_(count) {}
  ~Cleaned() { ++*count_; }
  int* count_;
};

void handlers() {
  std::set_new_handler([] {
    if (++handled == 3) std::set_new_handler(nullptr);
  });
  int cleaned = 0;
  CHECK(throws([&] {
    Cleaned guard(&cleaned);
    return operator new(huge);
  }));
  CHECK(handled == 3 && cleaned == 1);

  handled = 0;
  std::set_new_handler([] {
    ++handled;
    throw std::bad_alloc();
  });
  CHECK(throws([] { return operator new(huge, std::align_val_t{64}); }));
  CHECK(operator new(huge, std::nothrow) == nullptr);
  CHECK(handled == 2);

  // A handler that frees something: the operator tries again and succeeds.
  handled = 0;
  reserve = operator new(40 << 20);
  std::set_new_handler([] {
    ++handled;
    operator delete(reserve);
    reserve = nullptr;
    std::set_new_handler(nullptr);
  });
  std::vector<std::unique_ptr<char[]>> blocks;
  while (reserve != nullptr && blocks.size() < 1000) blocks.emplace_back(new char[1 << 20]);
  CHECK(handled == 1);
  CHECK(blocks.size() > 4 && blocks.size() < 1000);
  blocks.clear();
}

}  // namespace

int main(int count, char**) {
  if (count > 1) {
    owns = reinterpret_cast<bool (*)(const void*)>(dlsym(RTLD_DEFAULT, "tp_owns"));
    if (owns == nullptr) return 1;
  }
  every_form();
  used_up();
  handlers();
  return failures != 0;
}
