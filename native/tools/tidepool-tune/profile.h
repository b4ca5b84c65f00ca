// The sizes a program asked for, as tp_write_size_profile writes them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace tune {

inline constexpr std::uint32_t step = 16;
inline constexpr std::uint32_t largest = 32768;

// count[i]: requests of (i * 16, (i + 1) * 16] bytes; a request counts as the largest of these sizes.
struct Profile {
  std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(largest / step, 0);

  std::uint64_t requests() const;
  std::uint64_t bytes() const;
};

// Adds the lines "size count" of a stream. False, with a sentence in error that names the line, for anything else.
bool read_profile(std::istream& input, Profile& profile, std::string& error);

}  // namespace tune
