// What is measured: loops over a face. A face is one way to get and give back a block:
//
//   struct face {
//     union block {...};                               what a renter keeps of a block
//     static void rent(block&, std::size_t size);
//     static void give_back(block&, std::size_t size);
//     static char* data(block&);
//   };
//
// Every loop writes the first and the last byte of each block, so that no call can be left out and page faults are paid
// where they are caused. Sizes and orders are made before the time begins; nothing else allocates while it runs.
#ifndef TIDEPOOL_BENCH_WORKLOADS_H
#define TIDEPOOL_BENCH_WORKLOADS_H

#include <sched.h>

#include <atomic>
#include <cstring>

#include "clock.h"
#include "crew.h"

namespace bench {

// Of one timed stretch. first and second are the parts of the time that were spent in the two phases of bulk and stress,
// by the share of thread time; 0 where there are no phases.
struct timing {
  double nanoseconds = 0;
  double operations = 0;
  double first = 0;
  double second = 0;

  timing& operator+=(const timing& other) {
    nanoseconds += other.nanoseconds;
    operations += other.operations;
    first += other.first;
    second += other.second;
    return *this;
  }
};

struct parameters {
  std::size_t size;  // of a block; 0: mixed
  unsigned threads;
};

template <class Face>
struct slot {
  typename Face::block block;
  std::size_t size;
};

template <class Face>
[[gnu::always_inline]] inline void rent(slot<Face>& in, std::size_t size) {
  Face::rent(in.block, size);
  in.size = size;
  volatile char* data = Face::data(in.block);
  data[0] = 1;
  data[size - 1] = 1;
}

template <class Face>
[[gnu::always_inline]] inline void give_back(slot<Face>& in) {
  Face::give_back(in.block, in.size);
}

// One block at a time. One operation is rent and return.
template <class Face>
class pair_loop {
 public:
  explicit pair_loop(parameters p) : size_(p.size), threads_(p.threads), rounds_(p.threads == 1 ? 20'000 : 160'000 / p.threads) {}

  timing pass() {
    std::uint64_t wall = crew::run(threads_, [](void* self, unsigned) { static_cast<pair_loop*>(self)->work(); }, this);
    return {static_cast<double>(wall), static_cast<double>(rounds_) * threads_};
  }

 private:
  void work() {
    slot<Face> one;
    std::size_t size = size_;
    for (std::size_t round = rounds_; round != 0; --round) {
      rent<Face>(one, size);
      give_back<Face>(one);
    }
  }

  std::size_t size_;
  unsigned threads_;
  std::size_t rounds_;
};

// How many blocks a thread holds at once in bulk and stress: 8 MiB over all threads, at most 16384 blocks.
inline std::size_t bulk_count(parameters p) {
  std::size_t count = (std::size_t{8} << 20) / p.size;
  return (count > 16384 ? 16384 : count) / p.threads;
}

// The classic experiment: rent all, then return all. The stress form returns every third block in between and rents it again.
template <class Face, bool Stress>
class bulk_loop {
 public:
  explicit bulk_loop(parameters p)
      : size_(p.size), threads_(p.threads), count_(bulk_count(p)), slots_(count_ * p.threads), spent_(crew::most) {}

  timing pass() {
    std::uint64_t wall = crew::run(threads_, [](void* self, unsigned member) { static_cast<bulk_loop*>(self)->work(member); }, this);
    std::uint64_t renting = 0, returning = 0;
    for (unsigned member = 0; member < threads_; ++member) {
      renting += spent_[member].renting;
      returning += spent_[member].returning;
    }
    double share = static_cast<double>(renting) / static_cast<double>(renting + returning);
    double blocks = static_cast<double>(Stress ? count_ + (count_ + 2) / 3 : count_) * threads_;
    double total = static_cast<double>(wall);
    return {total, blocks, total * share, total * (1 - share)};
  }

  // Makes the driver's own pages resident.
  void touch_slots() { std::memset(static_cast<void*>(slots_.get()), 0, count_ * threads_ * sizeof(slot<Face>)); }

 private:
  struct phases {
    std::uint64_t renting, returning;
    char apart[112];  // two members never write to one cache line
  };

  void work(unsigned member) {
    slot<Face>* slots = slots_.get() + member * count_;
    std::uint64_t begin = now(), renting = 0, returning = 0;
    for (std::size_t i = 0; i < count_; ++i) rent<Face>(slots[i], size_);
    std::uint64_t end = now();
    renting += end - begin;
    if constexpr (Stress) {
      begin = end;
      for (std::size_t i = 0; i < count_; i += 3) give_back<Face>(slots[i]);
      end = now();
      returning += end - begin;
      begin = end;
      for (std::size_t i = 0; i < count_; i += 3) rent<Face>(slots[i], size_);
      end = now();
      renting += end - begin;
    }
    begin = end;
    for (std::size_t i = 0; i < count_; ++i) give_back<Face>(slots[i]);
    end = now();
    returning += end - begin;
    spent_[member].renting = renting;
    spent_[member].returning = returning;
  }

  std::size_t size_;
  unsigned threads_;
  std::size_t count_;
  mapped<slot<Face>> slots_;
  mapped<phases> spent_;
};

// A working set of blocks of 16 .. 4096 bytes, one of which after another is returned and rented with another size.
template <class Face>
class mixed_loop {
 public:
  explicit mixed_loop(parameters p)
      : threads_(p.threads), live_(p.threads == 1 ? 1024 : 256), steps_(p.threads == 1 ? 8192 : 65536 / p.threads),
        slots_(live_ * p.threads), plan_(steps_ * p.threads) {
    random_numbers random(4711);
    for (std::size_t i = 0; i < steps_ * threads_; ++i) {
      plan_[i] = {random.below(static_cast<std::uint32_t>(live_)), 16 + random.below(4081)};
    }
    // Each member fills its own slots: the blocks are of its own thread.
    crew::run(threads_, [](void* self, unsigned member) { static_cast<mixed_loop*>(self)->fill(member); }, this);
  }

  ~mixed_loop() {
    crew::run(threads_, [](void* self, unsigned member) { static_cast<mixed_loop*>(self)->empty(member); }, this);
  }

  timing pass() {
    std::uint64_t wall = crew::run(threads_, [](void* self, unsigned member) { static_cast<mixed_loop*>(self)->work(member); }, this);
    return {static_cast<double>(wall), static_cast<double>(steps_) * threads_};
  }

 private:
  struct step {
    std::uint32_t place, size;
  };

  void fill(unsigned member) {
    for (std::size_t i = 0; i < live_; ++i) rent<Face>(slots_[member * live_ + i], plan_[i].size);
  }

  void empty(unsigned member) {
    for (std::size_t i = 0; i < live_; ++i) give_back<Face>(slots_[member * live_ + i]);
  }

  void work(unsigned member) {
    slot<Face>* slots = slots_.get() + member * live_;
    const step* plan = plan_.get() + member * steps_;
    for (std::size_t i = 0; i < steps_; ++i) {
      slot<Face>& one = slots[plan[i].place];
      give_back<Face>(one);
      rent<Face>(one, plan[i].size);
    }
  }

  unsigned threads_;
  std::size_t live_;
  std::size_t steps_;
  mapped<slot<Face>> slots_;
  mapped<step> plan_;
};

// One thread rents, another returns, through a ring of 1024 places. Places are published 32 at a time, so that the ring
// costs both sides little beside the blocks.
template <class Face>
class ring_loop {
 public:
  explicit ring_loop(parameters p) : size_(p.size), ring_(places) {}

  timing pass() {
    rented_.value.store(0, std::memory_order_relaxed);
    returned_.value.store(0, std::memory_order_relaxed);
    std::uint64_t wall = crew::run(
        2,
        [](void* self, unsigned member) {
          auto* loop = static_cast<ring_loop*>(self);
          member == 0 ? loop->produce() : loop->consume();
        },
        this);
    return {static_cast<double>(wall), static_cast<double>(count)};
  }

 private:
  static constexpr std::size_t places = 1024, bunch = 32, count = 32768;

  struct alignas(128) counter {
    std::atomic<std::size_t> value{0};
  };

  void produce() {
    for (std::size_t i = 0; i < count; i += bunch) {
      wait_until(returned_, i + bunch > places ? i + bunch - places : 0);
      for (std::size_t k = i; k < i + bunch; ++k) rent<Face>(ring_[k % places], size_);
      rented_.value.store(i + bunch, std::memory_order_release);
    }
  }

  void consume() {
    for (std::size_t i = 0; i < count; i += bunch) {
      wait_until(rented_, i + bunch);
      for (std::size_t k = i; k < i + bunch; ++k) give_back<Face>(ring_[k % places]);
      returned_.value.store(i + bunch, std::memory_order_release);
    }
  }

  static void wait_until(counter& reached, std::size_t number) {
    for (unsigned spins = 0; reached.value.load(std::memory_order_acquire) < number; ++spins) {
      if (spins > 200) sched_yield();  // the other side may have no core
    }
  }

  std::size_t size_;
  mapped<slot<Face>> ring_;
  counter rented_;
  counter returned_;
};

}  // namespace bench
#endif
