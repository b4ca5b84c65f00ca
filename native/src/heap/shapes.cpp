#include "heap/shapes.h"

namespace tp {

namespace {

// The bytes at the end of a page that hold no block; in a huge page they are resident.
constexpr uint32_t rest_of_page(uint32_t slices, uint32_t block_size) { return (slices << slice_shift) % block_size; }

// A page of small blocks has 64 KiB. Blocks above 2 KiB take more slices, so that a page holds at least 8; where huge pages may
// back it, at most a 32nd of the page is left over.
constexpr uint32_t slices_of_page(uint32_t block_size) {
  if (block_size <= 2048) return 1;
  if (block_size <= 8192) return rest_of_page(2, block_size) <= slice_size / 16 ? 2 : 4;
  if (block_size <= max_class_size) return 4;
  return static_cast<uint32_t>(slices_for(block_size));
}

constexpr Shape make_shape(uint32_t block_size) {
  uint32_t slices = slices_of_page(block_size);
  uint32_t capacity = static_cast<uint32_t>((slices << slice_shift) / block_size);
  return {block_size, slices, capacity, reciprocal_of(block_size)};
}

constexpr Shapes make_shapes() {
  Shapes made{};
  for (size_t bin = 1; bin <= class_count; ++bin) made.of[bin] = make_shape(static_cast<uint32_t>(size_of_bin(bin)));
  return made;
}

}  // namespace

// Constant-initialised: static constructors of programs allocate before those of this library would run.
constinit Shapes shapes = make_shapes();

Shape shape_for(uint32_t block_size) { return make_shape(block_size); }

}  // namespace tp
