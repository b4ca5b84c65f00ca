#include "base/report.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "os/os.h"

namespace tp {

Text& Text::add(const char* text) {
  while (*text != 0 && length_ + 1 < capacity) buffer_[length_++] = *text++;
  buffer_[length_] = 0;
  return *this;
}

Text& Text::add(size_t number) {
  char digits[24];
  size_t at = sizeof(digits) - 1;
  digits[at] = 0;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  return add(digits + at);
}

Text& Text::add_signed(int64_t number) {
  if (number >= 0) return add(static_cast<size_t>(number));
  return add("-").add(size_t{0} - static_cast<size_t>(number));
}

Text& Text::add_hex(uintptr_t number) {
  char digits[24];
  size_t at = sizeof(digits) - 1;
  digits[at] = 0;
  do {
    digits[--at] = "0123456789abcdef"[number % 16];
    number /= 16;
  } while (number != 0);
  return add(digits + at);
}

void Text::write_to(int file_descriptor) const { os::write_all(file_descriptor, buffer_, length_); }

static void write_and_abort(tp_misuse, const void*, size_t, const char* message) {
  Text text;
  text.add("tidepool: ").add(message).add("\n").write_to(2);
  abort();
}

static std::atomic<tp_misuse_handler> misuse_handler{write_and_abort};

void copy_name(char (&to)[32], const char* name) {
  size_t length = name != nullptr ? strnlen(name, sizeof(to) - 1) : 0;
  if (length != 0) memcpy(to, name, length);
  to[length] = 0;
}

void report_misuse(tp_misuse kind, const void* address, size_t size, const char* message) {
  misuse_handler.load(std::memory_order_acquire)(kind, address, size, message);
}

tp_misuse_handler exchange_misuse_handler(tp_misuse_handler handler) {
  return misuse_handler.exchange(handler != nullptr ? handler : write_and_abort, std::memory_order_acq_rel);
}

static std::atomic<bool> deepbind{false};

void note_deepbind() { deepbind.store(true, std::memory_order_relaxed); }
bool deepbind_was_used() { return deepbind.load(std::memory_order_relaxed); }

void report_foreign_pointer(const void* pointer, const char* call) {
  Text text;
  text.add(call).add(" of a foreign pointer: ").add_address(pointer).add(" is not in a block of this library, or was freed before");
  if (deepbind_was_used()) text.add("; a library that was loaded with RTLD_DEEPBIND has the C library's malloc");
  report_misuse(tp_misuse_foreign_pointer, pointer, 0, text.c_str());
}

void fatal(const char* message, const void* address) {
  Text text;
  text.add("tidepool: ").add(message);
  if (address != nullptr) text.add(" (").add_address(address).add(")");
  text.add("\n").write_to(2);
  abort();
}

bool broken(const char* invariant, const void* where) {
  Text text;
  text.add("tidepool: broken invariant: ").add(invariant).add(" at ").add_address(where).add("\n").write_to(2);
  return false;
}

}  // namespace tp
