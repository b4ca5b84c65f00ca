// Allocates at rates and with lifetimes that are known: each function is one site. At its end it writes what each has allocated:
// a line with the name, the bytes and the blocks.
// counted SECONDS FILE
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace counted {

using clock = std::chrono::steady_clock;

constexpr auto tick_time = std::chrono::milliseconds(5);
constexpr int ticks_a_second = 200;

struct particle {
  char data[192];
};

struct Site {
  const char* name;
  unsigned long long bytes = 0, blocks = 0;
};

enum { at_tiny, at_fixed, at_mixed, at_big, at_long, at_cache, at_burst, at_third, at_two_thirds, at_map, at_vector, at_handed };

Site sites[] = {{"tiny"},        {"fixed"},      {"mixed"},           {"big_young"}, {"long_lived"},    {"cache"},
                {"start_burst"}, {"third_kept"}, {"two_thirds_kept"}, {"map_nodes"}, {"vector_growth"}, {"handed_over"}};

std::size_t count(int place, std::size_t size) {
  sites[place].bytes += size;
  ++sites[place].blocks;
  return size;
}

[[gnu::noinline]] char* keep(void* block) {
  asm volatile("" : : "r"(block) : "memory");
  return static_cast<char*>(block);
}

[[gnu::noinline]] char* tiny() { return keep(std::malloc(count(at_tiny, 24))); }
[[gnu::noinline]] char* fixed() { return keep(std::malloc(count(at_fixed, sizeof(particle)))); }
[[gnu::noinline]] char* mixed(unsigned turn) { return keep(std::malloc(count(at_mixed, 100 + turn * 977u % 7900))); }
[[gnu::noinline]] char* big_young() { return keep(std::malloc(count(at_big, 200'000))); }
[[gnu::noinline]] char* long_lived() { return keep(std::malloc(count(at_long, 4000))); }
[[gnu::noinline]] char* cache() { return keep(std::malloc(count(at_cache, 5000))); }
[[gnu::noinline]] char* start_burst() { return keep(std::malloc(count(at_burst, 5000))); }
[[gnu::noinline]] char* third_kept() { return keep(std::malloc(count(at_third, 3000))); }
[[gnu::noinline]] char* two_thirds_kept() { return keep(std::malloc(count(at_two_thirds, 3000))); }
[[gnu::noinline]] char* handed_over() { return keep(std::malloc(count(at_handed, sizeof(particle)))); }

using Nodes = std::map<int, particle>;

[[gnu::noinline]] void map_nodes(Nodes& nodes, int key) {
  nodes[key];
  count(at_map, sizeof(std::_Rb_tree_node<Nodes::value_type>));
}

[[gnu::noinline]] void vector_growth() {
  std::vector<double> numbers;
  std::size_t capacity = 0;
  for (int i = 0; i < 500; ++i) {
    numbers.push_back(i);
    if (numbers.capacity() == capacity) continue;
    capacity = numbers.capacity();
    count(at_vector, capacity * sizeof(double));
  }
  keep(numbers.data());
}

// The other thread frees each batch at once.
class Mailbox {
 public:
  static constexpr int batch = 200;

  void put(char* const (&items)[batch]) {
    std::unique_lock hold(lock_);
    for (int i = 0; i < batch; ++i) items_[i] = items[i];
    full_ = true;
    changed_.notify_one();
    changed_.wait(hold, [&] { return !full_; });
  }

  void empty() {
    for (bool more = true; more;) {
      std::unique_lock hold(lock_);
      changed_.wait(hold, [&] { return full_; });
      more = items_[0] != nullptr;
      for (char* one : items_) std::free(one);
      full_ = false;
      changed_.notify_one();
    }
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  char* items_[batch] = {};
  bool full_ = false;
};

Mailbox mail;
char* ring[8 * ticks_a_second];  // a block of the cache lives for a second

void hand_over(bool last) {
  char* items[Mailbox::batch] = {};
  for (int i = 0; !last && i < Mailbox::batch; ++i) items[i] = handed_over();
  mail.put(items);
}

void tick(unsigned turn, bool starts) {
  for (int i = 0; i < 1600; ++i) std::free(tiny());
  for (int i = 0; i < 200; ++i) std::free(fixed());
  for (unsigned i = 0; i < 10; ++i) std::free(mixed(turn * 10 + i));
  std::free(big_young());
  for (int i = 0; i < 10; ++i) long_lived();
  for (unsigned i = 0; i < 8; ++i) {
    char*& place = ring[(turn * 8 + i) % (8 * ticks_a_second)];
    std::free(place);
    place = cache();
  }
  for (int i = 0; starts && i < 80; ++i) std::free(start_burst());
  for (int i = 0; i < 12; ++i) {
    char* one = third_kept();
    if (i % 3 != 0) std::free(one);
    char* other = two_thirds_kept();
    if (i % 3 == 0) std::free(other);
  }
  Nodes nodes;
  for (int i = 0; i < 160; ++i) map_nodes(nodes, i);
  for (int i = 0; i < 5; ++i) vector_growth();
  hand_over(false);
}

// By the clock: a tick that is late is made up for.
void run(unsigned ticks) {
  std::thread other([] { mail.empty(); });
  auto start = clock::now();
  for (unsigned turn = 0; turn < ticks; ++turn) {
    std::this_thread::sleep_until(start + turn * tick_time);
    tick(turn, turn < ticks / 10);
  }
  hand_over(true);
  other.join();
}

}  // namespace counted

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: counted SECONDS FILE\n", stderr);
    return 2;
  }
  counted::run(static_cast<unsigned>(std::atoi(words[1]) * counted::ticks_a_second));
  std::FILE* file = std::fopen(words[2], "w");
  if (file == nullptr) return 1;
  for (const counted::Site& site : counted::sites) std::fprintf(file, "%s %llu %llu\n", site.name, site.bytes, site.blocks);
  return std::fclose(file) == 0 ? 0 : 1;
}
