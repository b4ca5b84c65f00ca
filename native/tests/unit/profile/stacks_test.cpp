#include "profile/stacks.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tp;

[[gnu::noinline]] stacks::StackId first_place() {
  stacks::StackId id = stacks::capture(8);
  asm volatile("" : : : "memory");
  return id;
}

[[gnu::noinline]] stacks::StackId second_place(unsigned depth) {
  stacks::StackId id = stacks::capture(depth);
  asm volatile("" : : : "memory");
  return id;
}

// A return address into the function; functions here are shorter than 128 bytes.
bool has_frame_in(stacks::StackId id, uintptr_t function) {
  stacks::Frames frames = stacks::frames_of(id);
  for (unsigned i = 0; i < frames.count; ++i) {
    if (frames.addresses[i] > function && frames.addresses[i] < function + 128) return true;
  }
  return false;
}

TEST(Stacks, OfOnePlaceAreOneStack) {
  stacks::StackId ids[3];
  for (stacks::StackId& id : ids) id = first_place();
  EXPECT_NE(ids[0], 0u);
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[1], ids[2]);
}

TEST(Stacks, OfTwoPlacesDiffer) { EXPECT_NE(first_place(), second_place(8)); }

TEST(Stacks, NameTheFunctionsThatCalled) {
  stacks::StackId id = first_place();
  EXPECT_TRUE(has_frame_in(id, reinterpret_cast<uintptr_t>(&first_place)));
  EXPECT_FALSE(has_frame_in(id, reinterpret_cast<uintptr_t>(&second_place)));
}

TEST(Stacks, AreAsDeepAsAsked) {
  EXPECT_EQ(stacks::frames_of(second_place(2)).count, 2u);
  EXPECT_EQ(stacks::frames_of(second_place(3)).count, 3u);
  EXPECT_LE(stacks::frames_of(second_place(1000)).count, stacks::most_frames);
}

TEST(Stacks, AreDescribedByModuleAndOffset) {
  Text text;
  stacks::describe(text, first_place(), 2);
  std::string line = text.c_str();
  // The program's own name, which is another one under an emulator.
  EXPECT_NE(line.find("(" + std::string(program_invocation_short_name) + "+0x"), std::string::npos) << line;
  EXPECT_NE(line.find(" < "), std::string::npos) << line;
  EXPECT_EQ(line.find(" < ", line.find(" < ") + 1), std::string::npos) << line;
}

TEST(Stacks, UnknownOnesHaveNoFrames) {
  EXPECT_EQ(stacks::frames_of(0).count, 0u);
  EXPECT_EQ(stacks::frames_of(stacks::count() + 1).count, 0u);
  Text text;
  stacks::describe(text, 0, 3);
  EXPECT_STREQ(text.c_str(), "an unknown place");
}

TEST(Stacks, KeepErrno) {
  errno = 77;
  first_place();
  EXPECT_EQ(errno, 77);
}

template <int Depth>
[[gnu::noinline]] void capture_at_depths(std::vector<stacks::StackId>& ids) {
  ids.push_back(stacks::capture(stacks::most_frames));
  if constexpr (Depth > 0) capture_at_depths<Depth - 1>(ids);
  asm volatile("" : : : "memory");
}

// Threads that meet new stacks at the same time agree on their numbers, and every number leads to frames.
TEST(Stacks, AreNumberedOnceAmongThreads) {
  constexpr int count = 4;
  std::vector<stacks::StackId> ids[count];
  std::vector<std::thread> threads;
  for (auto& mine : ids) threads.emplace_back([&mine] { for (int i = 0; i < 50; ++i) capture_at_depths<12>(mine); });
  for (std::thread& thread : threads) thread.join();
  for (auto& mine : ids) EXPECT_EQ(mine, ids[0]);
  for (stacks::StackId id : ids[0]) EXPECT_NE(stacks::frames_of(id).count, 0u);
}

}  // namespace
