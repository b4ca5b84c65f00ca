// Texts without allocation, numbers, size classes at compile time.
#include <gtest/gtest.h>

#include <string>

#include "base/config.h"
#include "base/report.h"

namespace {

using namespace tp;

TEST(Text, AddsTextAndNumbers) {
  Text text;
  text.add("a ").add(size_t{0}).add(" ").add(size_t{18446744073709551615u}).add(" ");
  text.add_signed(-5).add(" ").add_signed(INT64_MIN).add(" ").add_signed(7).add(" ").add_hex(0xbeef).add(" ").add_hex(0);
  EXPECT_STREQ("a 0 18446744073709551615 -5 -9223372036854775808 7 beef 0", text.c_str());
}

TEST(Text, ThatIsTooLongIsCut) {
  Text text;
  for (int i = 0; i < 1000; ++i) text.add("0123456789");
  EXPECT_LT(strlen(text.c_str()), 5000u);
  EXPECT_EQ(0, strncmp(text.c_str(), "01234567890123456789", 20));
}

TEST(Report, ADefaultMisuseEndsTheProgramWithOneLine) {
  EXPECT_DEATH(report_misuse(tp_misuse_overflow, nullptr, 5, "what happened"), "^tidepool: what happened\n");
  EXPECT_DEATH(fatal("cannot go on", reinterpret_cast<void*>(0x1230)), "tidepool: cannot go on \\(0x1230\\)");
}

int calls = 0;

TEST(Report, AHandlerTakesItsPlaceAndNullGivesItBack) {
  auto handler = [](tp_misuse kind, const void* address, size_t size, const char* message) {
    EXPECT_EQ(tp_misuse_leak, kind);
    EXPECT_EQ(&calls, address);
    EXPECT_EQ(9u, size);
    EXPECT_STREQ("text", message);
    ++calls;
  };
  tp_misuse_handler before = tp_set_misuse_handler(handler);
  report_misuse(tp_misuse_leak, &calls, 9, "text");
  EXPECT_EQ(1, calls);
  EXPECT_EQ(static_cast<tp_misuse_handler>(handler), tp_set_misuse_handler(nullptr));
  EXPECT_EQ(before, tp_set_misuse_handler(before));
}

TEST(Numbers, RoundAsTheySay) {
  EXPECT_TRUE(is_power_of_two(1) && is_power_of_two(size_t{1} << 63));
  EXPECT_FALSE(is_power_of_two(0) || is_power_of_two(6));
  EXPECT_EQ(0u, round_up(0, 16));
  EXPECT_EQ(16u, round_up(1, 16));
  EXPECT_EQ(16u, round_up(16, 16));
  EXPECT_EQ(1u, slices_for(1));
  EXPECT_EQ(1u, slices_for(65536));
  EXPECT_EQ(2u, slices_for(65537));
  for (unsigned bit = 0; bit < 64; ++bit) EXPECT_EQ(bit, log2_floor(size_t{1} << bit));
}

TEST(SizeClasses, TheBinOfEverySizeIsTheSmallestThatHoldsIt) {
  for (size_t size = 0; size <= max_class_size; ++size) {
    size_t bin = bin_of(size);
    ASSERT_GE(bin, 1u);
    ASSERT_LE(bin, class_count);
    ASSERT_GE(size_of_bin(bin), size);
    if (bin > 1) {
      ASSERT_LT(size_of_bin(bin - 1), size);
    }
  }
}

}  // namespace
