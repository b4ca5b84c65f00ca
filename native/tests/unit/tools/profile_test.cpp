#include "profile.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

bool read(const char* text, tune::Profile& profile, std::string& error) {
  std::istringstream input(text);
  return tune::read_profile(input, profile, error);
}

TEST(Profile, AddsUpItsLines) {
  tune::Profile profile;
  std::string error;
  ASSERT_TRUE(read("16 3\n32768 2\n\n# a comment\n16 4\n", profile, error)) << error;
  EXPECT_EQ(profile.counts[0], 7u);
  EXPECT_EQ(profile.counts[2047], 2u);
  EXPECT_EQ(profile.requests(), 9u);
  EXPECT_EQ(profile.bytes(), 7u * 16 + 2u * 32768);
}

TEST(Profile, OfNothingIsEmpty) {
  tune::Profile profile;
  std::string error;
  EXPECT_TRUE(read("", profile, error));
  EXPECT_EQ(profile.requests(), 0u);
}

TEST(Profile, NamesTheLineThatIsWrong) {
  for (const char* wrong : {"16\n", "16 x\n", "16 1 1\n", "17 1\n", "0 1\n", "32784 1\n", "-16 1\n", "16 -1\n",
                            "16 18446744073709551615\n"}) {
    tune::Profile profile;
    std::string error;
    EXPECT_FALSE(read((std::string("32 1\n") + wrong).c_str(), profile, error)) << wrong;
    EXPECT_NE(error.find("line 2"), std::string::npos) << error;
  }
}

}  // namespace
