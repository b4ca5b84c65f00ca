#include "heap/depot.h"

#include <string.h>

#include "base/report.h"
#include "heap/flush.h"
#include "heap/heap.h"
#include "heap/refill.h"
#include "os/assert.h"
#include "pages/stamp.h"

namespace tp {

namespace {

constexpr size_t most_of_a_heap = size_t{4} << 20;
constexpr size_t most_of_all = size_t{32} << 20;
constexpr size_t grant_step = size_t{256} << 10;

std::atomic<size_t> granted_to_all{0};

constexpr size_t chunk_bin = bin_of(sizeof(Chunk));

size_t bytes_of(size_t bin, uint32_t count) { return size_t{count} * shapes.of[bin].block_size + size_of_bin(chunk_bin); }

// Room is granted in large steps, so that heaps seldom meet at the counter.
bool has_room(Depot& depot, size_t bytes) {
  size_t wanted = depot.bytes + bytes;
  if (wanted <= depot.granted) return true;
  if (wanted > most_of_a_heap) return false;
  size_t more = round_up(wanted - depot.granted, grant_step);
  if (granted_to_all.fetch_add(more, std::memory_order_relaxed) + more > most_of_all) {
    granted_to_all.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }
  depot.granted += more;
  return true;
}

bool is_own(const Heap* heap, const void* block) {
  PageId id = page_with(block);
  return page_of(id)->is(PageKind::small) && page_of(id)->owner.load(std::memory_order_relaxed) == heap;
}

Chunk* take_unused(Heap* heap) {
  Depot& depot = heap->depot;
  if (Chunk* chunk = depot.unused; chunk != nullptr) {
    depot.unused = chunk->next;
    return chunk;
  }
  void* block = nullptr;
  if (take_blocks(heap, chunk_bin, shapes.of[chunk_bin], &block, 1) == 0) return nullptr;
  ++depot.chunks;
  return static_cast<Chunk*>(block);
}

void push(Chunk*& list, Chunk* chunk) {
  chunk->next = list;
  list = chunk;
}

Chunk* pop(Chunk*& list) {
  Chunk* chunk = list;
  list = chunk->next;
  return chunk;
}

void give_chunk_back(Heap* heap, Chunk* chunk, uint32_t stamp) {
  void* block = chunk;
  --heap->depot.chunks;
  flush(heap, &block, 1, stamp);
}

}  // namespace

bool put_into_depot(Heap* heap, size_t bin, void* const* blocks, uint32_t count) {
  TP_ASSERT(heap->lock.is_held());
  Depot& depot = heap->depot;
  // The first and the last stand for all: a thread that frees blocks of others frees many.
  if (bin >= first_pool_bin || count > Chunk::most || !is_own(heap, blocks[0]) || !is_own(heap, blocks[count - 1])) return false;
  if (!has_room(depot, bytes_of(bin, count))) return false;
  Chunk* chunk = take_unused(heap);
  if (chunk == nullptr) return false;
  memcpy(chunk->blocks, blocks, count * sizeof(void*));
  chunk->count = count;
  push(depot.full[bin], chunk);
  depot.bytes += bytes_of(bin, count);
  TP_ASSERT(depot.bytes <= depot.granted);
  depot.stamp = now_stamp();
  note_change(heap);
  return true;
}

uint32_t take_from_depot(Heap* heap, size_t bin, void** blocks) {
  TP_ASSERT(heap->lock.is_held());
  Depot& depot = heap->depot;
  if (bin >= first_pool_bin || depot.full[bin] == nullptr) return 0;
  Chunk* chunk = pop(depot.full[bin]);
  uint32_t count = chunk->count;
  memcpy(blocks, chunk->blocks, count * sizeof(void*));
  push(depot.unused, chunk);
  TP_ASSERT(depot.bytes >= bytes_of(bin, count));
  depot.bytes -= bytes_of(bin, count);
  ++heap->refills[bin];
  return count;
}

bool empty_depot(Heap* heap, uint32_t most_chunks) {
  TP_ASSERT(heap->lock.is_held());
  Depot& depot = heap->depot;
  if (depot.empty() && depot.granted == 0) return false;
  uint32_t stamp = depot.stamp;
  for (size_t bin = 1; bin < first_pool_bin; ++bin) {
    while (depot.full[bin] != nullptr) {
      if (most_chunks-- == 0) return true;
      Chunk* chunk = pop(depot.full[bin]);
      depot.bytes -= bytes_of(bin, chunk->count);
      flush(heap, chunk->blocks, chunk->count, stamp);
      give_chunk_back(heap, chunk, stamp);
    }
  }
  while (depot.unused != nullptr) give_chunk_back(heap, pop(depot.unused), stamp);
  if (depot.granted != 0) granted_to_all.fetch_sub(depot.granted, std::memory_order_relaxed);
  depot.granted = 0;
  return false;
}

size_t blocks_in_depot(const Heap* heap, size_t bin) {
  size_t count = 0;
  if (bin >= first_pool_bin) return 0;
  for (const Chunk* chunk = heap->depot.full[bin]; chunk != nullptr; chunk = chunk->next) count += chunk->count;
  return bin == chunk_bin ? count + heap->depot.chunks : count;
}

bool depot_is_valid(const Heap* heap) {
  const Depot& depot = heap->depot;
  size_t bytes = 0;
  uint32_t chunks = 0;
  for (size_t bin = 0; bin < first_pool_bin; ++bin) {
    for (const Chunk* chunk = depot.full[bin]; chunk != nullptr; chunk = chunk->next) {
      if (chunk->count == 0 || chunk->count > Chunk::most) return broken("a chunk has blocks", chunk);
      for (uint32_t i = 0; i < chunk->count; ++i) {
        PageId id = page_with(chunk->blocks[i]);
        bool of_bin = page_of(id)->is(PageKind::small) && page_of(id)->bin == bin;
        if (!of_bin) return broken("blocks of a chunk are of its bin", chunk->blocks[i]);
      }
      bytes += bytes_of(bin, chunk->count);
      ++chunks;
    }
  }
  for (const Chunk* chunk = depot.unused; chunk != nullptr; chunk = chunk->next) ++chunks;
  if (chunks != depot.chunks || bytes != depot.bytes) return broken("chunks of a depot are counted", heap);
  if (depot.bytes > depot.granted) return broken("a depot holds what it was granted", heap);
  return true;
}

}  // namespace tp
