// Runs the tests of one program. After every test the library must still be valid; a test that leaves it broken fails.
#include <gtest/gtest.h>

#include "tidepool/tidepool.h"

namespace {

class EndsValid : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override { EXPECT_TRUE(tp_is_valid()); }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Tests in a process of their own start from main: nothing has used the library there.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  testing::UnitTest::GetInstance()->listeners().Append(new EndsValid);
  return RUN_ALL_TESTS();
}
