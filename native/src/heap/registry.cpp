#include "heap/registry.h"

#include "heap/heap.h"
#include "heap/purge.h"
#include "heap/purge_thread.h"
#include "heap/refill.h"
#include "heap/thread_heap.h"
#include "os/assert.h"
#include "pages/runs.h"

namespace tp {

namespace {

std::atomic<Heap*> registry{nullptr};
Lock registry_lock;
std::atomic<uint32_t> serials{0};

// Heaps without a user, by Heap::next_unused. A heap is pushed after its state has changed and popped before it does, and
// no other lock is waited for with a stack's lock held.
struct UnusedHeaps {
  Lock lock;
  Heap* first = nullptr;
  std::atomic<uint32_t> count{0};  // read without the lock

  void push(Heap* heap) {
    Locked locked(lock);
    heap->next_unused = first;
    first = heap;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  Heap* pop() {
    if (count.load(std::memory_order_relaxed) == 0) return nullptr;
    Locked locked(lock);
    Heap* heap = first;
    if (heap == nullptr) return nullptr;
    first = heap->next_unused;
    count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    return heap;
  }
  // In the child of a fork: the threads that pushed or popped do not exist there.
  void reset() {
    lock.reset();
    first = nullptr;
    count.store(0, std::memory_order_relaxed);
  }
};
constinit UnusedHeaps orphans;    // of threads that ended
constinit UnusedHeaps destroyed;  // without magazines

void register_heap(Heap* heap) {
  Locked locked(registry_lock);
  heap->next = registry.load(std::memory_order_relaxed);
  registry.store(heap, std::memory_order_release);
}

uint32_t next_serial() { return serials.fetch_add(1, std::memory_order_relaxed) + 1; }

}  // namespace

Heap* first_heap() { return registry.load(std::memory_order_acquire); }

Heap* make_heap(HeapState state, size_t bytes) {
  auto* heap = static_cast<Heap*>(allocate_or_purge([bytes] { return allocate_meta(bytes); }));
  if (heap == nullptr) return nullptr;
  heap->state.store(state, std::memory_order_relaxed);
  heap->serial = next_serial();
  register_heap(heap);
  return heap;
}

void add_orphan(Heap* heap) { orphans.push(heap); }
Heap* take_orphan() { return orphans.pop(); }
size_t orphan_count() { return orphans.count.load(std::memory_order_relaxed); }

void add_destroyed(Heap* heap) { destroyed.push(heap); }

Heap* create_heap(HeapState state) {
  load_options();
  Heap* heap = destroyed.pop();
  if (heap == nullptr) heap = make_heap(state, sizeof(Heap) - sizeof(Heap::slots));
  if (heap == nullptr) return nullptr;
  Locked locked(heap->lock);
  heap->state.store(state, std::memory_order_relaxed);
  heap->caches = false;
  heap->zero_on_free = false;
  heap->limit_bytes = 0;
  heap->held_bytes = 0;
  heap->name[0] = 0;
  heap->serial = next_serial();
  return heap;
}

void destroy_heap(Heap* heap) {
  heap->lock.lock();
  TP_ASSERT(is_explicit(heap));
  release_everything(heap);
  for (size_t bin = 0; bin < bin_count; ++bin) heap->refills[bin] = 0;
  // The next user of the structure has none of this.
  heap->limit_bytes = 0;
  heap->zero_on_free = false;
  heap->purge_delay = {};
  heap->parts_gone_at = 0;
  heap->name[0] = 0;
  heap->state.store(HeapState::free, std::memory_order_relaxed);
  heap->lock.unlock();
  destroyed.push(heap);
  note_idle_pages(true);
}

PageId take_page_of_orphans(Heap* heap, size_t bin) {
  TP_ASSERT(heap->lock.is_held());
  if (orphan_count() == 0 || !is_thread_heap(heap)) return 0;
  // The caller holds the lock of its heap, so others are only tried.
  if (!orphans.lock.try_lock()) return 0;
  constexpr int most_looked_at = 32;
  int looked = 0;
  PageId id = 0;
  for (Heap* orphan = orphans.first; orphan != nullptr && id == 0 && looked++ < most_looked_at; orphan = orphan->next_unused) {
    if (!orphan->lock.try_lock()) continue;
    id = detach_page(orphan, bin);
    // Before a thread may adopt the orphan and take the page for its own.
    if (id != 0) page_of(id)->owner.store(heap, std::memory_order_release);
    orphan->lock.unlock();
  }
  orphans.lock.unlock();
  return id;
}

void lock_registry() {
  registry_lock.lock();
  orphans.lock.lock();
  destroyed.lock.lock();
}

void unlock_registry() {
  destroyed.lock.unlock();
  orphans.lock.unlock();
  registry_lock.unlock();
}

void reset_registry() {
  destroyed.reset();
  orphans.reset();
  registry_lock.reset();
}

}  // namespace tp
