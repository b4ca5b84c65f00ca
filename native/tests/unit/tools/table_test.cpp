#include "table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

TEST(Table, ListsTheClassesInOrder) {
  tune::Profile profile;
  profile.counts[16] = 42;
  tune::Classes classes = tune::best_classes(profile, 20);
  std::ostringstream output;
  tune::write_table(output, profile, classes);
  std::string text = output.str();
  EXPECT_NE(text.find("42 recorded requests"), std::string::npos);
  std::string list = text.substr(text.find('{', text.find("class_sizes")));
  for (char& letter : list) {
    if (letter < '0' || letter > '9') letter = ' ';
  }
  std::istringstream numbers(list);
  tune::Classes found;
  for (std::uint32_t number; numbers >> number;) found.push_back(number);
  EXPECT_EQ(found, classes);
}

}  // namespace
