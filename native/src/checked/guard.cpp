#include "checked/guard.h"

#if TIDEPOOL_CHECKED

#include <sched.h>
#include <signal.h>
#include <ucontext.h>

#include "base/options.h"
#include "checked/misuse.h"
#include "checked/records.h"
#include "checked/secret.h"

namespace tp::check {

namespace {

constinit std::atomic<uint64_t> calls{0};
constinit std::atomic<uint32_t> mapped{0};
constinit std::atomic<uintptr_t> lowest{UINTPTR_MAX};
constinit std::atomic<uintptr_t> highest{0};
constinit std::atomic<uint32_t> handler_state{0};  // 0: not in place, 1: in place
struct sigaction former_action;

void widen(uintptr_t begin, uintptr_t end) {
  uintptr_t low = lowest.load(std::memory_order_relaxed);
  while (begin < low && !lowest.compare_exchange_weak(low, begin, std::memory_order_relaxed)) {
  }
  uintptr_t high = highest.load(std::memory_order_relaxed);
  while (end > high && !highest.compare_exchange_weak(high, end, std::memory_order_relaxed)) {
  }
}

const char* access_of(void* context) {
#if defined(__x86_64__)
  constexpr greg_t write_bit = 2;
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & write_bit) != 0 ? "write" : "read";
#else
  (void)context;
  return "access";
#endif
}

// Other threads leave a lock soon; the thread that faulted, should it hold one, never does.
bool lock_if_possible(Lock& lock) {
  for (int tries = 0; tries < 1000; ++tries) {
    if (lock.try_lock()) return true;
    sched_yield();
  }
  return false;
}

// The guard page belongs to the block before it.
bool find_guarded(uintptr_t address, Record* found) {
  if (!may_be_guarded(reinterpret_cast<void*>(address))) return false;
  bool any = false;
  for (Shard& shard : shards) {
    if (!lock_if_possible(shard.lock)) continue;
    for (uint32_t i = 0; i < shard.capacity && !any; ++i) {
      const Record& record = shard.table[i];
      any = record.block > 1 && record.guarded && record.state <= State::quarantined &&
            address - record.memory < guarded_extent(record) + os::page_size();
      if (any) *found = record;
    }
    shard.lock.unlock();
    if (any) return true;
  }
  return false;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Record record;
  if (info->si_code == SEGV_ACCERR && find_guarded(reinterpret_cast<uintptr_t>(info->si_addr), &record)) {
    report_guard_hit(record, info->si_addr, access_of(context));
  }
  // The instruction is tried again and faults again: now as if this handler had never been there.
  sigaction(signal, &former_action, nullptr);
}

void catch_faults() {
  if (handler_state.exchange(1, std::memory_order_acq_rel) != 0) return;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &former_action);
}

size_t pages_of(const Record& record) {
  return round_up(round_up(record.size != 0 ? record.size : 1, record.alignment()), os::page_size());
}

}  // namespace

bool time_for_guard(size_t size, size_t alignment) {
  auto rate = static_cast<uint64_t>(options::get(tp_option_guard_rate));
  if (rate == 0 || size > most_guarded_size || alignment > os::page_size()) return false;
  return mix(secret() + calls.fetch_add(1, std::memory_order_relaxed)) % rate == 0;
}

bool map_guarded(Record& record) {
  if (mapped.fetch_add(1, std::memory_order_relaxed) < most_guarded_blocks) {
    size_t bytes = pages_of(record);
    void* memory = os::reserve(bytes + os::page_size(), os::page_size());
    if (memory != nullptr && os::commit(memory, bytes)) {
      catch_faults();
      record.memory = reinterpret_cast<uintptr_t>(memory);
      record.block = record.memory + bytes - round_up(record.size != 0 ? record.size : 1, record.alignment());
      record.guarded = true;
      widen(record.memory, record.memory + bytes + os::page_size());
      return true;
    }
    if (memory != nullptr) os::release(memory, bytes + os::page_size());
  }
  mapped.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void close_guarded(const Record& record) {
  auto* memory = reinterpret_cast<void*>(record.memory);
  os::discard(memory, pages_of(record));
  os::protect(memory, pages_of(record), false);
}

void unmap_guarded(const Record& record) {
  os::release(reinterpret_cast<void*>(record.memory), pages_of(record) + os::page_size());
  mapped.fetch_sub(1, std::memory_order_relaxed);
}

bool may_be_guarded(const void* address) {
  auto wanted = reinterpret_cast<uintptr_t>(address);
  return wanted >= lowest.load(std::memory_order_relaxed) && wanted < highest.load(std::memory_order_relaxed);
}

}  // namespace tp::check

#endif
