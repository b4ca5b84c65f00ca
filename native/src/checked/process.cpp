#include "checked/process.h"

#if TIDEPOOL_CHECKED

#include <dlfcn.h>
#include <stdio.h>

#include "base/options.h"
#include "base/report.h"
#include "checked/block.h"
#include "checked/core.h"
#include "checked/misuse.h"
#include "checked/quarantine.h"
#include "checked/records.h"
#include "checked/secret.h"
#include "heap/fork.h"

// Only checked libraries define this name. report_if_hidden looks it up to see where calls of the program go.
extern "C" TP_EXPORT const char tp_checked_library_;
extern "C" const char tp_checked_library_ = 1;

namespace tp::check {

namespace {

constinit std::atomic<bool> started{false};

// Blocks that a fork copied into this process are its parent's to free.
constinit std::atomic<uint64_t> first_serial{0};

struct Leak {
  size_t blocks;
  size_t bytes;
  uint64_t first_serial;
  uintptr_t first;
};

// The live blocks by allocating stack, in memory of its own that is gone afterwards.
class Leaks {
 public:
  Leaks() {
    by_stack_ = static_cast<Leak*>(os::reserve(table_bytes, slice_size));
    if (by_stack_ != nullptr && !os::commit(by_stack_, table_bytes)) {
      os::release(by_stack_, table_bytes);
      by_stack_ = nullptr;
    }
    for_each_record([this](Shard&, const Record& record) {
      if (record.state == State::live && record.serial >= first_serial.load(std::memory_order_relaxed)) add(record);
      return true;
    });
  }
  ~Leaks() {
    if (by_stack_ != nullptr) os::release(by_stack_, table_bytes);
  }
  Leaks(const Leaks&) = delete;
  Leaks& operator=(const Leaks&) = delete;

  size_t blocks() const { return blocks_; }
  size_t bytes() const { return bytes_; }
  const Record& first() const { return first_; }

  // One line for each stack, those with the most bytes first.
  void write() {
    size_t written = 0;
    for (; written < most_lines && by_stack_ != nullptr; ++written) {
      stacks::StackId largest = largest_stack();
      if (by_stack_[largest].blocks == 0) return;
      write_line(largest);
      by_stack_[largest] = {};
    }
    if (written == most_lines) Text().add("tidepool: leak: more call stacks are not shown\n").write_to(2);
  }

 private:
  static constexpr size_t table_size = stacks::most_stacks + 1;
  static constexpr size_t table_bytes = round_up(table_size * sizeof(Leak), slice_size);
  static constexpr size_t most_lines = 100;
  static constexpr unsigned shown_frames = 6;

  void add(const Record& record) {
    ++blocks_;
    bytes_ += record.size;
    if (blocks_ == 1 || record.serial < first_.serial) first_ = record;
    if (by_stack_ == nullptr) return;
    Leak& leak = by_stack_[record.allocated];
    ++leak.blocks;
    leak.bytes += record.size;
    if (leak.blocks == 1 || record.serial < leak.first_serial) {
      leak.first_serial = record.serial;
      leak.first = record.block;
    }
  }

  stacks::StackId largest_stack() const {
    stacks::StackId largest = 0;
    for (stacks::StackId stack = 1; stack <= stacks::count(); ++stack) {
      const Leak& leak = by_stack_[stack];
      const Leak& best = by_stack_[largest];
      if (leak.blocks != 0 && (best.blocks == 0 || leak.bytes > best.bytes)) largest = stack;
    }
    return largest;
  }

  void write_line(stacks::StackId stack) const {
    const Leak& leak = by_stack_[stack];
    Text line;
    line.add("tidepool: leak: ").add(leak.blocks).add(leak.blocks == 1 ? " block, " : " blocks, ").add(leak.bytes);
    line.add(" bytes, the first at 0x").add_hex(leak.first).add(", allocated at ");
    stacks::describe(line, stack, shown_frames);
    line.add("\n").write_to(2);
  }

  Leak* by_stack_ = nullptr;
  size_t blocks_ = 0;
  size_t bytes_ = 0;
  Record first_{};
};

void before_fork() {
  lock_all_shards();
  lock_quarantine();
  lock_owners();
}

void after_fork_in_parent() {
  unlock_owners();
  unlock_quarantine();
  unlock_all_shards();
}

void after_fork_in_child() {
  reset_owners();
  reset_quarantine();
  reset_all_shards();
  first_serial.store(next_serial(), std::memory_order_relaxed);
}

// Says so when calls of the program go to a library that checks nothing: a preloaded one comes first when names are looked up.
void report_if_hidden() {
  void* program = dlopen(nullptr, RTLD_LAZY);
  if (program == nullptr) return;
  auto is_checked = reinterpret_cast<bool (*)()>(dlsym(program, "tp_is_checked"));
  bool is_seen = is_checked != nullptr && dlsym(program, "tp_checked_library_") == &tp_checked_library_;
  if (is_seen && !is_checked()) {
    Dl_info found{};
    bool known = dladdr(reinterpret_cast<void*>(is_checked), &found) != 0 && found.dli_fname != nullptr;
    Text text;
    text.add("tidepool: nothing is checked: the program is linked with libtidepool-checked, but calls go to ");
    text.add(known ? found.dli_fname : "another library").add("; preload libtidepool-checked-preload.so instead\n").write_to(2);
  }
  dlclose(program);
}

// Flushes what the program printed: exit() does so after the destructors, and a handler may abort before that. Not
// when another thread holds the stream, as one that waits for input may do until the end.
void flush_standard_output() {
  if (ftrylockfile(stdout) != 0) return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

constexpr ForkHooks fork_hooks{before_fork, after_fork_in_parent, after_fork_in_child};

__attribute__((constructor)) void when_loaded() {
  set_fork_hooks(&fork_hooks);
  report_if_hidden();
}

// At exit: everything in quarantine, then leaks when the option says so.
__attribute__((destructor)) void at_exit() {
  if (!started.load(std::memory_order_acquire)) return;
  flush_standard_output();
  verify_all_blocks("exit");
  empty_quarantine("exit");
  if (options::get(tp_option_leak_check) == 0) return;
  Leaks leaks;
  if (leaks.blocks() == 0) return;
  leaks.write();
  report_leak_at_exit(leaks.blocks(), leaks.bytes(), leaks.first());
}

}  // namespace

// The hooks also here: a program may allocate, and fork, before the constructors of this library run.
void start() {
  if (TP_LIKELY(started.load(std::memory_order_acquire))) return;
  set_fork_hooks(&fork_hooks);
  core_start();
  secret();
  started.store(true, std::memory_order_release);
}

size_t drain_quarantine() { return empty_quarantine("tp_purge"); }

// Live bytes of the core are memories of blocks: larger than the blocks, and some are in quarantine.
void adjust_statistics(tp_statistics& statistics) {
  size_t live = total_live_bytes();
  if (statistics.live_bytes > live) statistics.cached_bytes += statistics.live_bytes - live;
  statistics.live_bytes = live;
  statistics.heaps = count_owners(OwnerKind::heap);
  statistics.pools = count_owners(OwnerKind::pool);
}

size_t report_leaks() {
  Leaks leaks;
  leaks.write();
  return leaks.blocks();
}

bool is_valid() { return verify_all_blocks("tp_is_valid"); }

}  // namespace tp::check

#endif
