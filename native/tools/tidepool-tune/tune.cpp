#include "tune.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "tidepool/detail/size_classes.h"

namespace tune {

namespace {

static_assert(largest == tp::detail::max_class_size);

// Compared by waste first: the prior only decides between equals.
struct Cost {
  std::uint64_t waste = 0;
  std::uint64_t prior = 0;

  Cost operator+(const Cost& other) const { return {waste + other.waste, prior + other.prior}; }
  auto operator<=>(const Cost&) const = default;
};

constexpr std::uint64_t prior_unit = std::uint64_t{1} << 40;

// Sums over all sizes up to a candidate, so that the cost of every pair of neighbours is one subtraction.
struct Sums {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t weight = 0;  // of the prior: 1 / size for how often it is asked for, 1 / size for waste relative to it
  std::uint64_t weighted_bytes = 0;
};

std::vector<Sums> sums_up_to(const Classes& sizes, const Profile& profile) {
  std::vector<Sums> result;
  Sums sums;
  std::uint32_t size = 0;
  for (std::uint32_t candidate : sizes) {
    while (size < candidate) {
      size += step;
      std::uint64_t count = profile.counts[size / step - 1];
      std::uint64_t weight = prior_unit / (std::uint64_t{size} * size);
      sums.requests += count;
      sums.bytes += count * size;
      sums.weight += weight;
      sums.weighted_bytes += weight * size;
    }
    result.push_back(sums);
  }
  return result;
}

Cost cost_between(const Sums& below, const Sums& here, std::uint32_t size) {
  return {(here.requests - below.requests) * size - (here.bytes - below.bytes),
          (here.weight - below.weight) * size - (here.weighted_bytes - below.weighted_bytes)};
}

struct Choice {
  Cost cost;
  std::size_t below = 0;  // the class before this one
  bool possible = false;
};

}  // namespace

Classes candidates() {
  Classes sizes;
  for (std::uint32_t size = step; size <= tp::detail::small_limit; size += step) sizes.push_back(size);
  for (std::uint32_t size = tp::detail::small_limit + 128; size <= largest; size += 128) sizes.push_back(size);
  return sizes;
}

Classes built_in_classes() { return {std::begin(tp::detail::class_sizes), std::end(tp::detail::class_sizes)}; }

Classes best_classes(const Profile& profile, std::size_t limit) {
  const Classes sizes = candidates();
  const std::vector<Sums> sums = sums_up_to(sizes, profile);
  // best[k][j]: k + 1 classes, the largest of which is sizes[j]. The smallest class is 16, a power of two.
  std::vector<std::vector<Choice>> best(limit, std::vector<Choice>(sizes.size()));
  best[0][0] = {cost_between(Sums{}, sums[0], sizes[0]), 0, true};
  for (std::size_t k = 1; k < limit; ++k) {
    for (std::size_t j = k; j < sizes.size(); ++j) {
      Choice& choice = best[k][j];
      for (std::size_t i = j; i-- > 0;) {
        if (best[k - 1][i].possible) {
          Cost cost = best[k - 1][i].cost + cost_between(sums[i], sums[j], sizes[j]);
          if (!choice.possible || cost < choice.cost) choice = {cost, i, true};
        }
        if (std::has_single_bit(sizes[i])) break;  // a power of two may not be passed over
      }
    }
  }
  std::size_t last = sizes.size() - 1;
  std::size_t count = 0;
  for (std::size_t k = 1; k < limit; ++k) {
    if (best[k][last].possible && (!best[count][last].possible || best[k][last].cost < best[count][last].cost)) count = k;
  }
  Classes classes;
  for (std::size_t j = last, k = count;; j = best[k--][j].below) {
    classes.push_back(sizes[j]);
    if (k == 0) break;
  }
  std::reverse(classes.begin(), classes.end());
  return classes;
}

std::uint64_t waste_of(const Profile& profile, const Classes& classes) {
  std::uint64_t waste = 0;
  std::size_t c = 0;
  for (std::size_t i = 0; i < profile.counts.size(); ++i) {
    std::uint64_t size = (i + 1) * step;
    while (classes[c] < size) ++c;
    waste += profile.counts[i] * (classes[c] - size);
  }
  return waste;
}

}  // namespace tune
