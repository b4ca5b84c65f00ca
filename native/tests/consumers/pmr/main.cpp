// The library as the default resource of std::pmr, under the standard library's own pools, and as resources of a heap, an
// arena and a tag.
#include <cstdio>
#include <map>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

#include "tidepool/memory_resource.hpp"

namespace {

bool fill_and_verify(std::pmr::memory_resource* memory) {
  std::pmr::map<std::pmr::string, std::pmr::vector<int>> lists(memory);
  for (int i = 0; i < 5000; ++i) lists[std::pmr::string("list number ", memory) + std::to_string(i % 100).c_str()].push_back(i);
  return lists.size() == 100 && lists["list number 42"].size() == 50 && lists["list number 42"][1] == 142;
}

}  // namespace

int main() {
  std::pmr::set_default_resource(tp::shared_resource());
  std::pmr::vector<std::pmr::string> words;
  words.emplace_back("a word that is too long for the short form of a string");
  if (!tp_owns(words[0].data())) return 1;

  if (!fill_and_verify(tp::shared_resource())) return 2;
  std::pmr::unsynchronized_pool_resource standard_pool(tp::shared_resource());
  if (!fill_and_verify(&standard_pool)) return 3;
  tp::heap heap({.name = "level"});
  tp::heap_resource level(heap);
  if (!fill_and_verify(&level) || heap.get_usage().live_bytes != 0) return 4;
  tp::tag tag("lists", 10 << 20);
  tp::tag_resource counted(tag);
  if (!fill_and_verify(&counted) || tag.used() != 0 || tag.peak() == 0) return 5;
  tp::arena arena;
  tp::arena_resource bump(arena);
  if (!fill_and_verify(&bump) || arena.used() == 0) return 6;

  bool right[4] = {};
  std::vector<std::thread> threads;
  for (bool& each : right) threads.emplace_back([&each] { each = fill_and_verify(tp::shared_resource()); });
  for (auto& thread : threads) thread.join();
  for (bool each : right) {
    if (!each) return 7;
  }
  std::puts("pmr over the library works");
}
