#include "base/options.h"

#include <errno.h>
#include <stdlib.h>

#include <atomic>

#include "base/report.h"

namespace tp::options {

namespace {

struct Definition {
  const char* variable;
  int64_t initial;
  int64_t lowest;
  int64_t highest;
  bool any_time;
};

constexpr Definition definitions[tp_option_count] = {
    {"TIDEPOOL_MEMORY_LIMIT", 0, 0, INT64_MAX, true},
    {"TIDEPOOL_PURGE_DELAY_MS", 1000, -1, INT32_MAX, true},
    {"TIDEPOOL_BACKGROUND_PURGE", 1, 0, 1, true},
    {"TIDEPOOL_HUGE_PAGES", 1, 0, 2, false},
    {"TIDEPOOL_ZERO_ON_FREE", 0, 0, 1, false},
    {"TIDEPOOL_PROFILE", 0, 0, 1, false},
    {"TIDEPOOL_SAMPLE_BYTES", 0, 0, INT64_MAX, false},
    {"TIDEPOOL_GUARD_RATE", 0, 0, INT32_MAX, false},
    {"TIDEPOOL_LEAK_CHECK", 1, 0, 1, false},
};

// Programs that know nothing of the library leave blocks to the end of the process on purpose.
constexpr int64_t initial_of(int option) {
  return preload && option == tp_option_leak_check ? 0 : definitions[option].initial;
}

// Kept as the difference from the initial value, so that the zeroed array at program start means the initial values.
std::atomic<int64_t> differences[tp_option_count];
std::atomic<bool> set_by_program[tp_option_count];
std::atomic<bool> loaded{false};  // set under the lock, when all is stored

void store(tp_option option, int64_t value) {
  differences[option].store(value - initial_of(option), std::memory_order_relaxed);
}

// A number with an optional K, M or G; anything else is refused.
bool parse(const char* text, int64_t* value) {
  bool negative = *text == '-';
  if (negative) ++text;
  if (*text < '0' || *text > '9') return false;
  int64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number)) return false;
  }
  int64_t unit = 1;
  if (*text == 'K' || *text == 'k') unit = 1 << 10;
  if (*text == 'M' || *text == 'm') unit = 1 << 20;
  if (*text == 'G' || *text == 'g') unit = 1 << 30;
  if (unit != 1) ++text;
  if (*text != 0 || __builtin_mul_overflow(number, unit, &number)) return false;
  *value = negative ? -number : number;
  return true;
}

void complain(const Definition& definition, const char* text) {
  Text line;
  line.add("tidepool: ").add(definition.variable).add("=").add(text).add(" is ignored: a number from ");
  line.add_signed(definition.lowest).add(" to ").add_signed(definition.highest).add(" is expected, K, M or G may follow\n");
  line.write_to(2);
}

}  // namespace

// The environment's value of an option; false when it has none or the program has set the option.
static bool from_environment(int option, int64_t* value, bool complains) {
  const Definition& definition = definitions[option];
  const char* text = getenv(definition.variable);
  if (text == nullptr || set_by_program[option].load(std::memory_order_relaxed)) return false;
  if (parse(text, value) && *value >= definition.lowest && *value <= definition.highest) return true;
  if (complains) complain(definition, text);
  return false;
}

Lock lock;

void load(void (*start)()) {
  if (loaded.load(std::memory_order_acquire)) return;
  Locked locked(lock);
  if (loaded.load(std::memory_order_relaxed)) return;
  for (int i = 0; i < tp_option_count; ++i) {
    int64_t value = 0;
    if (from_environment(i, &value, true)) store(static_cast<tp_option>(i), value);
  }
  start();
  loaded.store(true, std::memory_order_release);
}

int64_t get_now_or_at_first_use(tp_option option) {
  int64_t value = 0;
  return !loaded.load(std::memory_order_acquire) && from_environment(option, &value, false) ? value : get(option);
}

int64_t get(tp_option option) {
  return differences[option].load(std::memory_order_relaxed) + initial_of(option);
}

int set(tp_option option, int64_t value) {
  if (option < 0 || option >= tp_option_count) return EINVAL;
  const Definition& definition = definitions[option];
  if (value < definition.lowest || value > definition.highest) return EINVAL;
  Locked locked(lock);
  if (loaded.load(std::memory_order_relaxed) && !definition.any_time) return EBUSY;
  set_by_program[option].store(true, std::memory_order_relaxed);
  store(option, value);
  return 0;
}

}  // namespace tp::options
