// Writes a file without allocation; the first error stays until close().
#pragma once

#include "base/report.h"

namespace tp::profile {

class Output {
 public:
  explicit Output(const char* path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(const Text& text) { write(text.c_str(), text.length()); }
  void write(const char* bytes, size_t length);

  // Appends another file as it is; for /proc/self/maps.
  void append_file(const char* path);

  // False with errno when anything could not be written.
  bool close();

 private:
  void flush();
  void fail(int error);

  static constexpr size_t capacity = 4096;
  char buffer_[capacity];
  size_t used_ = 0;
  int file_ = -1;
  int error_ = 0;
};

}  // namespace tp::profile
