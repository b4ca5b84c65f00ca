#include "tune.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

namespace {

using tune::Classes;
using tune::Profile;

void add(Profile& profile, std::uint32_t size, std::uint64_t count) { profile.counts[(size + 15) / 16 - 1] += count; }

Profile random_profile(unsigned seed) {
  std::mt19937 random(seed);
  Profile profile;
  for (int i = 0; i < 40; ++i) add(profile, 1 + random() % 32768, random() % 10000);
  return profile;
}

Classes powers() {
  Classes classes;
  for (std::uint32_t size = 16; size <= 32768; size *= 2) classes.push_back(size);
  return classes;
}

Classes with(Classes classes, std::uint32_t size) {
  classes.insert(std::upper_bound(classes.begin(), classes.end(), size), size);
  return classes;
}

TEST(Waste, IsWhatRequestsLoseToTheirClass) {
  Profile profile;
  add(profile, 16, 5);
  add(profile, 48, 10);
  add(profile, 4112, 2);
  EXPECT_EQ(tune::waste_of(profile, powers()), 10u * (64 - 48) + 2u * (8192 - 4112));
}

TEST(BestClasses, KeepTheRulesOfTheTable) {
  for (std::size_t limit : {12, 13, 40, 64}) {
    Classes classes = tune::best_classes(random_profile(7), limit);
    EXPECT_LE(classes.size(), limit);
    EXPECT_TRUE(std::is_sorted(classes.begin(), classes.end()));
    EXPECT_EQ(std::adjacent_find(classes.begin(), classes.end()), classes.end());
    EXPECT_EQ(std::count_if(classes.begin(), classes.end(), [](std::uint32_t size) { return std::has_single_bit(size); }), 12);
    for (std::uint32_t size : classes) EXPECT_EQ(size % (size <= 1024 ? 16 : 128), 0u) << size;
    EXPECT_EQ(classes.back(), 32768u);
  }
}

TEST(BestClasses, WithTwelveAreThePowersOfTwo) { EXPECT_EQ(tune::best_classes(random_profile(1), 12), powers()); }

// Every table of thirteen and of fourteen classes is tried.
TEST(BestClasses, AreBetterThanEveryOtherTable) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Profile profile = random_profile(seed);
    Classes sizes = tune::candidates();
    std::uint64_t best13 = UINT64_MAX, best14 = UINT64_MAX;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (std::has_single_bit(sizes[i])) continue;
      Classes one = with(powers(), sizes[i]);
      best13 = std::min(best13, tune::waste_of(profile, one));
      for (std::size_t j = i + 1; j < sizes.size(); ++j) {
        if (!std::has_single_bit(sizes[j])) best14 = std::min(best14, tune::waste_of(profile, with(one, sizes[j])));
      }
    }
    EXPECT_EQ(tune::waste_of(profile, tune::best_classes(profile, 13)), best13) << "seed " << seed;
    EXPECT_EQ(tune::waste_of(profile, tune::best_classes(profile, 14)), best14) << "seed " << seed;
  }
}

TEST(BestClasses, NeverWasteMoreThanTheBuiltInOnes) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Profile profile = random_profile(seed);
    EXPECT_LE(tune::waste_of(profile, tune::best_classes(profile, 64)), tune::waste_of(profile, tune::built_in_classes()));
  }
}

TEST(BestClasses, OfFewSizesWasteNothing) {
  Profile profile;
  for (std::uint32_t size : {272, 656, 3712, 20480}) add(profile, size, 1000);
  EXPECT_EQ(tune::waste_of(profile, tune::best_classes(profile, 64)), 0u);
}

TEST(BestClasses, OfThreePeaksWasteAtLeastThirtyPercentLess) {
  Profile profile;
  add(profile, 264, 45000);
  add(profile, 648, 30000);
  add(profile, 1160, 20000);
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) add(profile, 32 + random() % 4000, 1);
  std::uint64_t before = tune::waste_of(profile, tune::built_in_classes());
  std::uint64_t after = tune::waste_of(profile, tune::best_classes(profile, 64));
  EXPECT_LE(after * 10, before * 7) << before << " to " << after;
}

// Sizes that were never asked for are served about as well as by the built-in table.
TEST(BestClasses, SpreadWhatThePeaksLeaveOver) {
  Profile profile;
  add(profile, 264, 1000);
  Classes classes = tune::best_classes(profile, 64);
  EXPECT_EQ(classes.size(), 64u);
  for (std::size_t c = 1; c < classes.size(); ++c) {
    EXPECT_TRUE(classes[c] <= 128 || classes[c] <= classes[c - 1] * 5 / 4) << classes[c];
  }
}

}  // namespace
