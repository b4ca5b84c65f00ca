// Reports to people: text without allocation, misuse, broken invariants.
#pragma once

#include "base/config.h"

namespace tp {

// Builds one text in a fixed buffer and cuts what does not fit.
class Text {
 public:
  Text& add(const char* text);
  Text& add(size_t number);
  Text& add_signed(int64_t number);
  Text& add_hex(uintptr_t number);
  Text& add_address(const void* address) { return add("0x").add_hex(reinterpret_cast<uintptr_t>(address)); }
  const char* c_str() const { return buffer_; }
  size_t length() const { return length_; }
  void write_to(int file_descriptor) const;

 private:
  static constexpr size_t capacity = 1024;
  char buffer_[capacity] = {};
  size_t length_ = 0;
};

// Copies the name of a heap or pool, null for none, and cuts what does not fit.
void copy_name(char (&to)[32], const char* name);

// Calls the misuse handler, which by default writes the message and aborts; may return.
TP_COLD void report_misuse(tp_misuse kind, const void* address, size_t size, const char* message);

// Remembers that a library of the program sees another malloc than the rest of it. Messages about foreign pointers say so.
void note_deepbind();
bool deepbind_was_used();

// Reports a call ("free", "realloc" or "size") with a pointer that lies in no block.
TP_COLD void report_foreign_pointer(const void* pointer, const char* call);

tp_misuse_handler exchange_misuse_handler(tp_misuse_handler handler);

// Writes a line and aborts, because the library's own state is broken or the program destroyed it.
[[noreturn]] TP_COLD void fatal(const char* message, const void* address = nullptr);

// Writes which invariant does not hold, and returns false; for is_valid().
TP_COLD bool broken(const char* invariant, const void* where);

}  // namespace tp
