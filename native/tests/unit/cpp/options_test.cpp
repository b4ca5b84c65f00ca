#include "tidepool/options.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "tidepool/tidepool.hpp"

namespace {

using namespace std::chrono_literals;

TEST(Options, SetAtAnyTimeAreReadBack) {
  auto delay = tp::get_purge_delay();
  EXPECT_EQ(tp::set_purge_delay(250ms), 0);
  EXPECT_EQ(tp::get_purge_delay(), 250ms);
  EXPECT_EQ(tp_get_option(tp_option_purge_delay_ms), 250);
  EXPECT_EQ(tp::set_purge_delay(-5s), 0) << "negative: only by tp_purge";
  EXPECT_EQ(tp::get_purge_delay(), -1ms);
  EXPECT_EQ(tp::set_purge_delay(delay), 0);

  bool background = tp::get_background_purge();
  EXPECT_EQ(tp::set_background_purge(!background), 0);
  EXPECT_EQ(tp::get_background_purge(), !background);
  EXPECT_EQ(tp::set_background_purge(background), 0);

  EXPECT_EQ(tp::set_memory_limit(std::size_t{1} << 40), 0);
  EXPECT_EQ(tp::get_memory_limit(), std::size_t{1} << 40);
  EXPECT_EQ(tp::set_memory_limit(SIZE_MAX), EINVAL);
  EXPECT_EQ(tp::set_memory_limit(0), 0);
}

TEST(Options, ThatAreFixedAtTheFirstAllocationSayBusy) {
  tp_free(tp_malloc(1));
  auto before = tp::get_huge_pages();
  EXPECT_EQ(tp::set_huge_pages(tp::huge_pages::always), EBUSY);
  EXPECT_EQ(tp::get_huge_pages(), before);
  EXPECT_EQ(tp::set_zero_on_free(true), EBUSY);
  EXPECT_FALSE(tp::get_zero_on_free());
}

TEST(Options, PurgeGivesIdleMemoryBack) {
  { auto lease = tp::rent_zeroed<char>(32 << 20); lease[1000] = 1; }
  std::size_t purged = tp::purge();
  EXPECT_GT(purged + tp::get_statistics().purged_bytes, 0u);
}

TEST(Options, StatisticsAreFilledIn) {
  auto lease = tp::rent<char>(1 << 20);
  tp_statistics statistics = tp::get_statistics();
  EXPECT_EQ(statistics.struct_size, sizeof(statistics));
  EXPECT_GE(statistics.live_bytes, std::size_t{1} << 20);
}

}  // namespace
