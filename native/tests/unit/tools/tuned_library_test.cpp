// The whole way of peaks/peaks.cpp: recorded, tuned, built again (see CMakeLists.txt), measured.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tune.h"

#if defined(PEAKS)

namespace {

struct Result {
  int code;
  std::string output;
};

Result run(const std::string& command) {
  Result result{-1, ""};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  char part[256];
  while (fgets(part, sizeof(part), pipe) != nullptr) result.output += part;
  int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

double value_of(const std::string& output, const std::string& name) {
  size_t at = output.find(name + "=");
  return at == std::string::npos ? -1 : std::stod(output.substr(at + name.size() + 1));
}

TEST(TunedLibrary, WastesAtLeastThirtyPercentLess) {
  Result before = run(PEAKS), after = run(PEAKS_TUNED);
  ASSERT_EQ(before.code, 0) << before.output;
  ASSERT_EQ(after.code, 0) << after.output;
  EXPECT_EQ(value_of(before.output, "requested"), value_of(after.output, "requested"));
  double waste_before = value_of(before.output, "waste"), waste_after = value_of(after.output, "waste");
  ASSERT_GT(waste_before, 0);
  ASSERT_GE(waste_after, 0);
  EXPECT_LE(waste_after, 0.7 * waste_before) << waste_before << " to " << waste_after;
  RecordProperty("waste_before", std::to_string(waste_before));
  RecordProperty("waste_after", std::to_string(waste_after));
}

TEST(TunedLibrary, WasBuiltFromWhatTheProgramAskedFor) {
  tune::Profile profile;
  std::string error;
  std::ifstream file(PEAKS_PROFILE);
  ASSERT_TRUE(tune::read_profile(file, profile, error)) << error;
  EXPECT_EQ(profile.requests(), 20000u);
  EXPECT_GT(profile.counts[264 / 16], 8000u);
  EXPECT_GT(profile.counts[648 / 16], 5000u);
}

TEST(Tool, PrintsWhatTheLabReads) {
  Result result = run(std::string(TIDEPOOL_TUNE) + " " + PEAKS_PROFILE);
  ASSERT_EQ(result.code, 0) << result.output;
  double before = value_of(result.output, "waste_before"), after = value_of(result.output, "waste_after");
  EXPECT_GT(before, 0);
  EXPECT_LE(after, 0.7 * before);
}

TEST(Tool, SaysWhatIsWrong) {
  EXPECT_EQ(run(TIDEPOOL_TUNE).code, 2);
  EXPECT_EQ(run(std::string(TIDEPOOL_TUNE) + " /nowhere/at-all").code, 2);
  EXPECT_EQ(run(std::string(TIDEPOOL_TUNE) + " --classes 5 " + PEAKS_PROFILE).code, 2);
  EXPECT_EQ(run(std::string(TIDEPOOL_TUNE) + " --sizes " + PEAKS_PROFILE).code, 2);
  EXPECT_EQ(run(std::string(TIDEPOOL_TUNE) + " /dev/null").code, 2);
  EXPECT_EQ(run(std::string(TIDEPOOL_TUNE) + " --output /nowhere/at-all " + PEAKS_PROFILE).code, 2);
  EXPECT_EQ(run(std::string(TIDEPOOL_TUNE) + " --help").code, 0);
}

}  // namespace

#endif
