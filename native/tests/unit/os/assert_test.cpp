// Assertions: what a failed one writes.
#undef TIDEPOOL_ASSERTS
#define TIDEPOOL_ASSERTS 1
#include "os/assert.h"

#include <gtest/gtest.h>

namespace {

TEST(Assertions, AFailedOneNamesTheConditionAndTheFunction) {
  int blocks = 2;
  TP_ASSERT(blocks == 2);
  EXPECT_DEATH(TP_ASSERT(blocks == 3), "tidepool: assertion failed: blocks == 3 in .*TestBody");
}

}  // namespace
