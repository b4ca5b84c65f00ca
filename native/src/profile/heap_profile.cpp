#include "profile/heap_profile.h"

#include <errno.h>
#include <string.h>

#include "os/lock.h"
#include "profile/output.h"
#include "profile/sample_log.h"
#include "profile/stacks.h"

namespace tp::profile {

namespace internal {
constinit std::atomic<int64_t> bytes_until_sample{0};
constinit std::atomic<uint64_t> mean_bytes{0};
constinit std::atomic<uint32_t> live_samples{0};
}  // namespace internal

using namespace internal;

namespace {

// A live sample. The table is open addressing with linear probing; removal moves later entries up, so that there are no
// tombstones. At most three quarters are used: further samples count as allocated but are not followed.
struct Sample {
  uintptr_t block;
  uint64_t requested;
  stacks::StackId stack;
  uint32_t samples;  // blocks it stands for
};

// Sums of one call stack: allocated so far, and live. Sampled numbers: pprof scales them.
struct Totals {
  uint64_t live_blocks, live_bytes, blocks, bytes;
};

constexpr size_t table_size = 1u << 16;
constexpr size_t most_samples = table_size / 4 * 3;
constexpr size_t filter_size = 1u << 14;
constexpr size_t table_bytes = round_up(table_size * sizeof(Sample), slice_size);
constexpr size_t totals_bytes = round_up((stacks::most_stacks + 1) * sizeof(Totals), slice_size);

// Counts the live samples that hash to each place: most frees see a zero and need no lock.
constinit std::atomic<uint16_t> filter[filter_size] = {};
constinit Lock lock;
constinit Sample* table = nullptr;  // lock
constinit Totals* totals = nullptr;  // lock
constinit std::atomic<uint64_t> random_state{0};

uint64_t next_random() {
  uint64_t x = random_state.fetch_add(0x9e3779b97f4a7c15u, std::memory_order_relaxed);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Natural logarithm for 0 < x <= 1, to some 12 digits, without libm: x = 2^exponent * m with m in [1, 2), and
// ln m = 2 artanh((m - 1) / (m + 1)).
double natural_log(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof(bits));
  int exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52);
  double mantissa;
  memcpy(&mantissa, &bits, sizeof(mantissa));
  double t = (mantissa - 1) / (mantissa + 1), t2 = t * t, power = t, sum = 0;
  for (int k = 1; k < 24; k += 2, power *= t2) sum += power / k;
  return exponent * 0.69314718055994530942 + 2 * sum;
}

// Draws the distance to the next event of a Poisson process: exponentially distributed.
int64_t draw_distance(uint64_t mean) {
  double uniform = static_cast<double>((next_random() >> 11) + 1) * 0x1p-53;
  double distance = -natural_log(uniform) * static_cast<double>(mean);
  return distance < 1 ? 1 : distance > 0x1p62 ? int64_t{1} << 62 : static_cast<int64_t>(distance);
}

size_t home_of(uintptr_t block) { return (block >> 4) * 0x9e3779b97f4a7c15u >> 40; }

bool make_tables() {
  if (table != nullptr) return true;
  auto* map = static_cast<char*>(os::reserve(table_bytes + totals_bytes, slice_size));
  if (map == nullptr || !os::commit(map, table_bytes + totals_bytes)) return false;
  table = reinterpret_cast<Sample*>(map);
  totals = reinterpret_cast<Totals*>(map + table_bytes);
  return true;
}

size_t place_of(uintptr_t block) {
  size_t at = home_of(block) % table_size;
  while (table[at].block != 0 && table[at].block != block) at = (at + 1) % table_size;
  return at;
}

void remove_at(size_t hole) {
  for (size_t at = (hole + 1) % table_size; table[at].block != 0; at = (at + 1) % table_size) {
    size_t distance_from_home = (at - home_of(table[at].block)) % table_size;
    if (distance_from_home < (at - hole) % table_size) continue;  // its home lies behind the hole
    table[hole] = table[at];
    hole = at;
  }
  table[hole] = {};
}

// Returns whether the free of the sample will be seen.
bool insert(const Sample& sample) {
  Totals& sums = totals[sample.stack];
  sums.blocks += sample.samples;
  sums.bytes += sample.samples * sample.requested;
  if (live_samples.load(std::memory_order_relaxed) == most_samples) return false;
  sums.live_blocks += sample.samples;
  sums.live_bytes += sample.samples * sample.requested;
  uintptr_t block = sample.block;
  table[place_of(block)] = sample;
  filter[home_of(block) % filter_size].fetch_add(1, std::memory_order_relaxed);
  live_samples.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void write_totals(Output& output, const Totals& sums) {
  Text line;
  line.add(sums.live_blocks).add(": ").add(sums.live_bytes).add(" [").add(sums.blocks).add(": ").add(sums.bytes).add("] @");
  output.write(line);
}

Totals totals_of(stacks::StackId stack) {
  Locked locked(lock);
  return totals != nullptr ? totals[stack] : Totals{};
}

Totals totals_of_all(uint32_t stacks) {
  Totals all{};
  for (stacks::StackId stack = 0; stack <= stacks; ++stack) {
    Totals sums = totals_of(stack);
    all.live_blocks += sums.live_blocks;
    all.live_bytes += sums.live_bytes;
    all.blocks += sums.blocks;
    all.bytes += sums.bytes;
  }
  return all;
}

void write_stack(Output& output, stacks::StackId stack, const Totals& sums) {
  write_totals(output, sums);
  stacks::Frames frames = stacks::frames_of(stack);
  for (unsigned i = 0; i < frames.count; ++i) {
    Text address;
    address.add(" 0x").add_hex(frames.addresses[i]);
    output.write(address);
  }
  output.write("\n", 1);
}

}  // namespace

// Many threads subtract; the one whose subtraction passes zero has the samples. A block is one if an event of the process
// falls into its bytes; how many fall into it does not matter, which is what pprof assumes when it scales up. Bytes that
// others subtract meanwhile are lost to the count, which a process without memory does not notice.
uint32_t internal::count_samples(size_t size, uint32_t blocks) {
  auto block_bytes = static_cast<int64_t>(size != 0 ? size : 1);
  int64_t bytes = block_bytes * blocks;
  int64_t event = bytes_until_sample.fetch_sub(bytes, std::memory_order_relaxed);
  if (event > bytes || event <= 0) return 0;
  uint64_t mean = mean_bytes.load(std::memory_order_relaxed);
  uint32_t samples = 0;
  for (; event <= bytes; ++samples) event = round_up(static_cast<size_t>(event), static_cast<size_t>(block_bytes)) + draw_distance(mean);
  bytes_until_sample.store(event - bytes, std::memory_order_relaxed);
  return samples;
}

void set_sampling(uint64_t mean) {
  if (mean == 0) return;
  random_state.store(os::random_seed(), std::memory_order_relaxed);
  bytes_until_sample.store(draw_distance(mean), std::memory_order_relaxed);
  mean_bytes.store(mean, std::memory_order_relaxed);
}

void record(const void* block, size_t requested, uint32_t samples) {
  stacks::StackId stack = stacks::capture(stacks::most_frames);
  bool logs = sample_log::is_open();
  if (logs) sample_log::note_stack(stack);
  Locked locked(lock);
  bool followed = make_tables() && insert({reinterpret_cast<uintptr_t>(block), requested, stack, samples});
  if (logs) sample_log::note_allocation(followed ? block : nullptr, requested, stack, samples);
}

void forget_slow(const void* block) {
  auto address = reinterpret_cast<uintptr_t>(block);
  if (filter[home_of(address) % filter_size].load(std::memory_order_relaxed) == 0) return;
  Locked locked(lock);
  if (table == nullptr) return;
  size_t at = place_of(address);
  if (table[at].block == 0) return;
  Totals& sums = totals[table[at].stack];
  sums.live_blocks -= table[at].samples;
  sums.live_bytes -= table[at].samples * table[at].requested;
  remove_at(at);
  filter[home_of(address) % filter_size].fetch_sub(1, std::memory_order_relaxed);
  live_samples.fetch_sub(1, std::memory_order_relaxed);
  if (sample_log::is_open()) sample_log::note_release(block);
}

bool write_heap(const char* path) {
  uint64_t mean = mean_bytes.load(std::memory_order_relaxed);
  if (mean == 0) {
    errno = ENOTSUP;
    return false;
  }
  uint32_t stacks = stacks::count();
  Output output(path);
  output.write(Text().add("heap profile: "));
  write_totals(output, totals_of_all(stacks));
  output.write(Text().add(" heap_v2/").add(mean).add("\n"));
  for (stacks::StackId stack = 0; stack <= stacks; ++stack) {
    Totals sums = totals_of(stack);
    if (sums.blocks != 0) write_stack(output, stack, sums);
  }
  output.write(Text().add("\nMAPPED_LIBRARIES:\n"));
  output.append_file("/proc/self/maps");
  return output.close();
}

void before_fork() {
  lock.lock();
  sample_log::before_fork();
  stacks::before_fork();
}

void after_fork_in_parent() {
  stacks::after_fork_in_parent();
  sample_log::after_fork_in_parent();
  lock.unlock();
}

void after_fork_in_child() {
  stacks::after_fork_in_child();
  sample_log::after_fork_in_child();
  lock.reset();
}

}  // namespace tp::profile
