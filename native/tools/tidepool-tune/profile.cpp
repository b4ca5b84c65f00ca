#include "profile.h"

#include <istream>
#include <sstream>

namespace tune {

namespace {

// Above this, sums of bytes over all sizes would not fit into 63 bits.
constexpr std::uint64_t most_requests = std::uint64_t{1} << 47;

}  // namespace

std::uint64_t Profile::requests() const {
  std::uint64_t sum = 0;
  for (std::uint64_t count : counts) sum += count;
  return sum;
}

std::uint64_t Profile::bytes() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) sum += counts[i] * (i + 1) * step;
  return sum;
}

bool read_profile(std::istream& input, Profile& profile, std::string& error) {
  std::string line;
  for (std::size_t number = 1; std::getline(input, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::uint64_t size = 0, count = 0;
    std::string rest;
    if (line.find('-') != std::string::npos || !(words >> size >> count) || words >> rest) {
      error = "line " + std::to_string(number) + ": \"size count\" is expected, not \"" + line + "\"";
      return false;
    }
    if (size == 0 || size > largest || size % step != 0) {
      error = "line " + std::to_string(number) + ": sizes are multiples of 16 from 16 to 32768, not " + std::to_string(size);
      return false;
    }
    std::uint64_t& sum = profile.counts[size / step - 1];
    if (count > most_requests || profile.requests() + count > most_requests) {
      error = "line " + std::to_string(number) + ": more than 2^47 requests";
      return false;
    }
    sum += count;
  }
  if (input.bad()) error = "it cannot be read";
  return error.empty();
}

}  // namespace tune
