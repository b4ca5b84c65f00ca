// tidepool-tune: size classes from a recorded profile.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "table.h"

namespace {

constexpr const char* help =
    "usage: tidepool-tune [--output FILE] [--classes N] PROFILE...\n"
    "\n"
    "Reads what tp_write_size_profile wrote (several profiles are added up), finds the size classes that waste the least\n"
    "memory on it, and prints the waste before and after. PROFILE - is standard input.\n"
    "\n"
    "  --output FILE   write the classes as a header; build the library with -DTIDEPOOL_SIZE_CLASSES=FILE (a full path)\n"
    "  --classes N     use at most N classes, 12 to 64 (default 64)\n"
    "\n"
    "Example:\n"
    "  TIDEPOOL_PROFILE=1 ./server            # calls tp_write_size_profile(\"sizes.txt\") before it ends\n"
    "  tidepool-tune --output classes.h sizes.txt\n"
    "  cmake -S native -B build -DTIDEPOOL_SIZE_CLASSES=$PWD/classes.h && cmake --build build\n";

struct Arguments {
  std::vector<std::string> profiles;
  std::string output;
  std::size_t classes = tune::most_classes;
  bool help = false;
};

int complain(const std::string& what) {
  std::cerr << "tidepool-tune: " << what << "\n";
  return 2;
}

bool parse_classes(const char* text, std::size_t& classes) {
  char* end = nullptr;
  unsigned long number = std::strtoul(text, &end, 10);
  classes = number;
  return *text >= '0' && *text <= '9' && *end == 0 && number >= tune::fewest_classes && number <= tune::most_classes;
}

bool parse(int count, char** words, Arguments& arguments, std::string& error) {
  for (int i = 1; i < count; ++i) {
    std::string word = words[i];
    bool takes_value = word == "--output" || word == "--classes";
    if (takes_value && i + 1 == count) {
      error = word + " needs a value";
    } else if (word == "--output") {
      arguments.output = words[++i];
    } else if (word == "--classes") {
      if (!parse_classes(words[++i], arguments.classes)) error = "--classes takes a number from 12 to 64";
    } else if (word == "--help" || word == "-h") {
      arguments.help = true;
    } else if (word.size() > 1 && word[0] == '-') {
      error = "unknown option " + word;
    } else {
      arguments.profiles.push_back(word);
    }
    if (!error.empty()) return false;
  }
  if (!arguments.help && arguments.profiles.empty()) error = "no profile is named; try --help";
  return error.empty();
}

bool read(const std::string& path, tune::Profile& profile, std::string& error) {
  if (path == "-") return tune::read_profile(std::cin, profile, error);
  std::ifstream file(path);
  if (!file) {
    error = std::strerror(errno);
    return false;
  }
  return tune::read_profile(file, profile, error);
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print(const tune::Profile& profile, const tune::Classes& before, const tune::Classes& after) {
  std::uint64_t bytes = profile.bytes();
  std::uint64_t waste_before = tune::waste_of(profile, before);
  std::uint64_t waste_after = tune::waste_of(profile, after);
  std::printf("%llu requests, %llu bytes\n", static_cast<unsigned long long>(profile.requests()), static_cast<unsigned long long>(bytes));
  std::printf("%-10s %8s %16s %10s\n", "", "classes", "wasted bytes", "of asked");
  std::printf("%-10s %8zu %16llu %9.2f%%\n", "before", before.size(), static_cast<unsigned long long>(waste_before),
              percent(waste_before, bytes));
  std::printf("%-10s %8zu %16llu %9.2f%%\n", "after", after.size(), static_cast<unsigned long long>(waste_after),
              percent(waste_after, bytes));
  std::printf("waste_before=%llu waste_after=%llu\n", static_cast<unsigned long long>(waste_before),
              static_cast<unsigned long long>(waste_after));
}

}  // namespace

int main(int count, char** words) {
  Arguments arguments;
  std::string error;
  if (!parse(count, words, arguments, error)) return complain(error);
  if (arguments.help) {
    std::cout << help;
    return 0;
  }
  tune::Profile profile;
  for (const std::string& path : arguments.profiles) {
    if (!read(path, profile, error)) return complain(path + ": " + error);
  }
  if (profile.requests() == 0) return complain("the profile holds no requests: nothing to tune for");
  tune::Classes classes = tune::best_classes(profile, arguments.classes);
  if (!arguments.output.empty()) {
    std::ofstream file(arguments.output);
    tune::write_table(file, profile, classes);
    file.close();
    if (!file) return complain(arguments.output + ": " + std::strerror(errno));
  }
  print(profile, tune::built_in_classes(), classes);
  return 0;
}
