// A plugin in C++: its runtime comes with it, into a program that has none.
#include <map>
#include <new>
#include <string>

namespace {
std::map<int, std::string> table{{1, std::string(100, 'a')}};
volatile std::size_t huge = static_cast<std::size_t>(-1) / 4;
}  // namespace

// 0: works, and a request that is too large throws.
extern "C" __attribute__((visibility("default"))) int plugin_run(int round) {
  table[round % 50] = std::string(static_cast<std::size_t>(round % 700), 'b');
  try {
    operator delete(operator new(huge));
    return 1;
  } catch (const std::bad_alloc&) {
  }
  return operator new(huge, std::nothrow) == nullptr ? 0 : 2;
}
