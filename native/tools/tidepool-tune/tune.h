// The best size classes for a profile.
//
// A table of classes is a subset of the sizes a class may have (multiples of 16 up to 1 KiB, of 128 above) that contains
// every power of two from 16 to 32768. Its waste is what requests lose by rounding up to their class. The best one is
// found exactly: going up the sizes, the least waste of k classes of which j is the largest is the least over all i
// below j of the waste of k - 1 classes of which i is the largest, plus what requests between i and j lose in j.
//
// Most profiles leave classes over: many sizes were never asked for. Among tables that waste equally little, the one is
// taken that would waste least, relative to the size, if each doubling of the size were asked for equally often.
#pragma once

#include <cstdint>
#include <vector>

#include "profile.h"

namespace tune {

using Classes = std::vector<std::uint32_t>;

inline constexpr std::size_t fewest_classes = 12;  // the powers of two
inline constexpr std::size_t most_classes = 64;

// The sizes a class may have, ascending.
Classes candidates();

// The classes that this tool, and the library built beside it, use now.
Classes built_in_classes();

// At most `limit` classes, from fewest_classes to most_classes.
Classes best_classes(const Profile& profile, std::size_t limit);

// Bytes that the profile's requests lose; classes must be ascending and reach the largest size.
std::uint64_t waste_of(const Profile& profile, const Classes& classes);

}  // namespace tune
