// Allocates at places whose right verdict is known: each function is one site, and its name is what the advice must name.
// planted MODE SECONDS
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace planted {

using clock = std::chrono::steady_clock;

struct particle {
  char data[192];
};

[[gnu::noinline]] void keep(void* block) { asm volatile("" : : "r"(block) : "memory"); }

// One size, freed at once.
[[gnu::noinline]] particle* fixed_churn() {
  auto* one = new particle;
  keep(one);
  return one;
}

// Sizes from 100 to 8,000 bytes, freed at once.
[[gnu::noinline]] char* mixed_churn(unsigned turn) {
  char* bytes = static_cast<char*>(std::malloc(100 + turn * 977u % 7900));
  keep(bytes);
  return bytes;
}

// Blocks that stay for the whole run.
[[gnu::noinline]] char* kept_in_cache() {
  char* bytes = new char[20000];
  keep(bytes);
  return bytes;
}

// Large enough to be sampled often, too rare to be worth a pool.
[[gnu::noinline]] char* tiny_rate() {
  char* bytes = new char[30000];
  keep(bytes);
  return bytes;
}

// Sizes that lie above a class of the library, freed at once.
[[gnu::noinline]] char* ill_fitting(unsigned turn) {
  char* bytes = static_cast<char*>(std::malloc(turn % 5 == 0 ? 2100 : 8200));
  keep(bytes);
  return bytes;
}

// Only while the program starts.
[[gnu::noinline]] char* start_burst() {
  char* bytes = new char[5000];
  keep(bytes);
  return bytes;
}

// Freed by the other thread.
[[gnu::noinline]] particle* handed_over() {
  auto* one = new particle;
  keep(one);
  return one;
}

// The nodes of a container, of one thread.
[[gnu::noinline]] void map_nodes(std::map<int, particle>& nodes, int turn) {
  nodes[turn % 64];
  if (nodes.size() > 32) nodes.clear();
}

// A vector that grows from nothing each time.
[[gnu::noinline]] void vector_growth() {
  std::vector<double> numbers;
  for (int i = 0; i < 500; ++i) numbers.push_back(i);
  keep(numbers.data());
}

// A queue of batches between two threads, large ones, as a busy machine wakes threads seldom. Its own memory stays: what is measured
// are the items.
class mailbox {
 public:
  static constexpr std::size_t batch = 1024;

  void put(particle* const (&items)[batch]) {
    std::unique_lock hold(lock_);
    changed_.wait(hold, [&] { return !full_; });
    std::memcpy(items_, items, sizeof(items_));
    full_ = true;
    changed_.notify_one();
  }

  void take(particle* (&items)[batch]) {
    std::unique_lock hold(lock_);
    changed_.wait(hold, [&] { return full_; });
    std::memcpy(items, items_, sizeof(items_));
    full_ = false;
    changed_.notify_one();
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  particle* items_[batch] = {};
  bool full_ = false;
};

mailbox mail;

void consume() {
  for (particle* items[mailbox::batch];;) {
    mail.take(items);
    if (items[0] == nullptr) return;
    for (particle* one : items) delete one;
  }
}

void churn(clock::time_point start, clock::time_point end) {
  for (unsigned turn = 0; clock::now() < end; ++turn) {
    for (int i = 0; i < 40; ++i) delete fixed_churn();
    for (int i = 0; i < 10; ++i) std::free(mixed_churn(turn * 10 + static_cast<unsigned>(i)));
    bool starts = clock::now() - start < (end - start) / 10;
    for (int i = 0; starts && i < 20; ++i) delete[] start_burst();
  }
}

void classes(clock::time_point, clock::time_point end) {
  for (unsigned turn = 0; clock::now() < end; ++turn) {
    for (unsigned i = 0; i < 20; ++i) std::free(ill_fitting(i));
  }
}

void containers(clock::time_point, clock::time_point end) {
  std::map<int, particle> nodes;
  for (int turn = 0; clock::now() < end; ++turn) {
    for (int i = 0; i < 20; ++i) map_nodes(nodes, turn * 20 + i);
    vector_growth();
  }
}

void crossing(clock::time_point, clock::time_point end) {
  std::thread consumer(consume);
  particle* items[mailbox::batch];
  while (clock::now() < end) {
    for (particle*& one : items) one = handed_over();
    mail.put(items);
  }
  items[0] = nullptr;
  mail.put(items);
  consumer.join();
}

// By the clock: a tick that is late is made up for.
void trickle(clock::time_point start, clock::time_point end) {
  for (auto tick = start; tick < end; tick += std::chrono::milliseconds(2)) {
    std::this_thread::sleep_until(tick);
    delete[] tiny_rate();
  }
}

void cache(clock::time_point start, clock::time_point end) {
  std::deque<char*> kept;
  for (auto tick = start; tick < end; tick += std::chrono::milliseconds(1)) {
    std::this_thread::sleep_until(tick);
    kept.push_back(kept_in_cache());
  }
  for (char* bytes : kept) delete[] bytes;
}

}  // namespace planted

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: planted churn|classes|containers|crossing|trickle|cache SECONDS\n", stderr);
    return 2;
  }
  auto start = planted::clock::now();
  auto end = start + std::chrono::seconds(std::atoi(words[2]));
  std::string mode = words[1];
  if (mode == "churn") planted::churn(start, end);
  if (mode == "classes") planted::classes(start, end);
  if (mode == "containers") planted::containers(start, end);
  if (mode == "crossing") planted::crossing(start, end);
  if (mode == "trickle") planted::trickle(start, end);
  if (mode == "cache") planted::cache(start, end);
  std::puts("done");
}
