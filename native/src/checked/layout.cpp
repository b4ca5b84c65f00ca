#include "checked/layout.h"

#if TIDEPOOL_CHECKED

#include <string.h>

#include "checked/annotate.h"
#include "checked/guard.h"
#include "checked/secret.h"

namespace tp::check {

namespace {

constexpr size_t most_front = 4096;
constexpr size_t most_canary = 256;
constexpr unsigned char poison_byte = 0xdf;  // an address made of it is not canonical: using one faults
constexpr unsigned char new_byte = 0xcb;
constexpr size_t most_filled = 64 * 1024;

// Differs from block to block, so that a neighbour's canary copied over is damage too. No byte is zero: an overflow by a
// string's end shows.
uint64_t canary_of(const Record& record) { return mix(secret() ^ record.block) | 0x0101010101010101u; }

struct Range {
  unsigned char* begin;
  unsigned char* end;
};

Range front_of(const Record& record) {
  unsigned char* block = record.begin();
  size_t room = record.block - record.memory;
  return {block - (room < most_canary ? room : most_canary), block};
}

Range tail_of(const Record& record) {
  size_t extent = record.guarded ? guarded_extent(record) : layout_of(record.size, record.alignment()).extent;
  return {record.begin() + record.size, reinterpret_cast<unsigned char*>(record.memory) + extent};
}

unsigned char canary_byte(uint64_t canary, const unsigned char* at) {
  return static_cast<unsigned char>(canary >> (reinterpret_cast<uintptr_t>(at) % 8 * 8));
}

void write_canary(Range range, uint64_t canary) {
  for (unsigned char* at = range.begin; at != range.end; ++at) *at = canary_byte(canary, at);
}

unsigned char* first_damage(Range range, uint64_t canary) {
  for (unsigned char* at = range.begin; at != range.end; ++at) {
    if (*at != canary_byte(canary, at)) return at;
  }
  return nullptr;
}

unsigned char poison_of(const Record& record) { return record.zero_on_free ? 0 : poison_byte; }

}  // namespace

Surroundings surroundings_of(const Record& record) {
  auto* memory = reinterpret_cast<unsigned char*>(record.memory);
  return {memory, static_cast<size_t>(tail_of(record).end - memory)};
}

// Overflows grow with what overflows: an eighth of the size, 16 to 256 bytes.
Layout layout_of(size_t size, size_t alignment) {
  size_t front = alignment <= most_front ? alignment : 0;
  size_t least_tail = size / 8 < 16 ? 16 : size / 8 > most_canary ? most_canary : size / 8;
  return {front, round_up(front + size + least_tail, 16)};
}

void arm(const Record& record) {
  uint64_t canary = canary_of(record);
  write_canary(front_of(record), canary);
  write_canary(tail_of(record), canary);
}

ptrdiff_t damage_around(const Record& record) {
  Unannotated reading(record);
  uint64_t canary = canary_of(record);
  unsigned char* damage = first_damage(tail_of(record), canary);
  if (damage == nullptr) damage = first_damage(front_of(record), canary);
  return damage != nullptr ? damage - record.begin() : intact;
}

// The program may have closed parts of its block.
void poison(const Record& record) {
  open_for_asan(record.begin(), record.size);
  memset(record.begin(), poison_of(record), record.size);
}

ptrdiff_t damage_inside(const Record& record) {
  Unannotated reading(record);
  unsigned char expected = poison_of(record);
  const unsigned char* begin = record.begin();
  if (record.size == 0 || (begin[0] == expected && memcmp(begin, begin + 1, record.size - 1) == 0)) return intact;
  ptrdiff_t at = 0;
  while (begin[at] == expected) ++at;
  return at;
}

void fill_new(void* block, size_t size) { memset(block, new_byte, size < most_filled ? size : most_filled); }

}  // namespace tp::check

#endif
