// Statements in a process of their own, in which nothing has used the library yet: options can be set, memory can be
// limited, and the process may end in any way.
#pragma once

#include <gtest/gtest.h>
#include <stdio.h>
#include <unistd.h>

namespace test {

template <typename Body>
[[noreturn]] void run_and_exit(Body body) {
  body();
  // GoogleTest says nothing in such a process; the parent shows what is on standard error.
  const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (part.failed()) fprintf(stderr, "%s:%d: %s\n", part.file_name(), part.line_number(), part.message());
  }
  fflush(nullptr);
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace test

// The body may use EXPECT_ and ASSERT_; the test fails when one of them does.
#define IN_A_PROCESS_OF_ITS_OWN(...)                                                    \
  do {                                                                                  \
    auto body_of_its_own = [&]() { __VA_ARGS__; };                                      \
    EXPECT_EXIT(test::run_and_exit(body_of_its_own), testing::ExitedWithCode(0), "");   \
  } while (false)

// The same without the thread that purges in the background: what is idle stays where it is until the body purges it.
#define IN_A_QUIET_PROCESS(...)                                       \
  IN_A_PROCESS_OF_ITS_OWN({                                           \
    ASSERT_EQ(0, tp_set_option(tp_option_background_purge, 0));       \
    __VA_ARGS__                                                       \
  })
