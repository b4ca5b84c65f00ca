// stress [--seed N] [--threads N] [--generations N] [--operations N]
//
// Generations of threads allocate, reallocate, free and send blocks to each other; every block is filled with a pattern of
// its address and verified when it is freed, mostly by another thread. Between generations the invariants are verified,
// and blocks that the last generation left in the mailboxes are freed by the next. At the end nothing may be live.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <chrono>
#include <thread>

#include "stress/worker.h"
#include "support/statistics.h"

namespace {

struct Arguments {
  uint64_t seed = 0;
  uint64_t threads = 4;
  uint64_t generations = 4;
  uint64_t operations = 40000;
};

Arguments parse(int count, char** texts) {
  Arguments arguments;
  arguments.seed = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) % 1000000;
  const struct {
    const char* name;
    uint64_t* value;
  } known[] = {{"--seed", &arguments.seed}, {"--threads", &arguments.threads}, {"--generations", &arguments.generations},
               {"--operations", &arguments.operations}};
  for (int i = 1; i < count; ++i) {
    bool found = false;
    for (auto& option : known) {
      if (strcmp(texts[i], option.name) != 0 || i + 1 == count) continue;
      *option.value = strtoull(texts[++i], nullptr, 10);
      found = true;
      break;
    }
    if (!found) {
      fprintf(stderr, "stress: --seed, --threads, --generations or --operations with a number, not '%s'\n", texts[i]);
      exit(2);
    }
  }
  return arguments;
}

void make_owners(stress::Shared& shared) {
  for (unsigned i = 0; i < stress::heap_count; ++i) {
    tp_heap_options options{sizeof(options), "stress", 0, i == 2};
    shared.heaps[i] = tp_heap_create(&options);
  }
  const size_t sizes[stress::pool_count] = {24, 200, 5000, 40000};
  for (unsigned i = 0; i < stress::pool_count; ++i) {
    tp_pool_options options{sizeof(options), "stress", sizes[i], i == 1 ? 64u : 0u, 0, i == 0};
    shared.pools[i] = tp_pool_create(&options);
  }
}

int fail(const Arguments& arguments, const char* what) {
  fprintf(stderr, "stress: %s (seed %llu)\n", what, static_cast<unsigned long long>(arguments.seed));
  return 1;
}

int usage_is_zero(const Arguments& arguments, stress::Shared& shared) {
  size_t live = 1;
  for (tp_heap* heap : shared.heaps) {
    tp_heap_usage(heap, &live, nullptr);
    if (live != 0) return fail(arguments, "a heap has live blocks");
  }
  for (tp_pool* pool : shared.pools) {
    tp_pool_usage(pool, &live, nullptr);
    if (live != 0) return fail(arguments, "a pool has live blocks");
  }
  return 0;
}

}  // namespace

int main(int count, char** texts) {
  Arguments arguments = parse(count, texts);
  stress::Shared shared;
  shared.seed = arguments.seed;
  shared.mailboxes = std::vector<stress::Mailbox>(arguments.threads);
  make_owners(shared);
  for (uint64_t generation = 0; generation < arguments.generations; ++generation) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < arguments.threads; ++i) {
      threads.emplace_back([&, i] {
        stress::work(shared, i, test::mix(arguments.seed * 1000003 + generation * 1009 + i), arguments.operations);
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (!tp_is_valid()) return fail(arguments, "an invariant is broken");
  }
  for (stress::Mailbox& mailbox : shared.mailboxes) {
    for (const stress::Block& block : mailbox.take()) stress::verify_and_free(shared, block, 2);
  }
  tp_purge(0);
  if (int failed = usage_is_zero(arguments, shared)) return failed;
  for (tp_heap* heap : shared.heaps) tp_heap_destroy(heap);
  for (tp_pool* pool : shared.pools) tp_pool_destroy(pool);
  tp_purge(0);
  if (!tp_is_valid()) return fail(arguments, "an invariant is broken at the end");
  tp_statistics statistics = test::statistics();
  if (statistics.live_bytes != 0) {
    fprintf(stderr, "stress: %zu bytes are live at the end\n", statistics.live_bytes);
    return fail(arguments, "not everything came back");
  }
  printf("seed %llu: %llu blocks verified, %llu refused by tp_try_free, %zu given back by other threads\n",
         static_cast<unsigned long long>(arguments.seed), static_cast<unsigned long long>(shared.verified.load()),
         static_cast<unsigned long long>(shared.refused.load()), statistics.remote_frees);
  return 0;
}
