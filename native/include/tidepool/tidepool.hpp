// Tidepool: rent, use, return. The C++ interface: everything but new_delete.hpp, which replaces operators of the whole
// program. Each part can be included alone.
//
//   block.hpp            raw blocks through the inline fast path
//   buffer.hpp           rent<T>(n): a buffer with an owner
//   unique.hpp           make_unique<T>(...), deleter<T>
//   pool.hpp             pool<T>, lease<T>
//   heap.hpp             heap: blocks with a common end
//   allocator.hpp        allocator<T>, tagged_allocator<T> for the standard containers
//   memory_resource.hpp  resource, heap_resource, tag_resource, arena_resource for std::pmr
//   arena.hpp            arena: bump allocation with frames and marks
//   stack_allocator.hpp  stack_allocator: last in, first out
//   tag.hpp              tag: bytes in use and a budget for each subsystem
//   options.hpp          huge pages, limits, purge
//
// Built with -fno-exceptions: functions that return a pointer or a lease return an empty one where they would throw
// std::bad_alloc; constructors, tp::rent, allocators and memory resources, which cannot, abort with one line on standard
// error. The nothrow constructors and the try_ functions never throw nor abort. Translation units of one program that use
// these headers should agree on -fno-exceptions: where they do not, either may serve a failure of the other.
//
// tidepool::checked, the library that finds misuse, sets TIDEPOOL_CHECKED for its users: every call then goes to the
// library with its exact size.
#ifndef TIDEPOOL_TIDEPOOL_HPP
#define TIDEPOOL_TIDEPOOL_HPP

#include "detail/language.h"

#include "allocator.hpp"
#include "arena.hpp"
#include "block.hpp"
#include "buffer.hpp"
#include "heap.hpp"
#include "memory_resource.hpp"
#include "options.hpp"
#include "pool.hpp"
#include "stack_allocator.hpp"
#include "tag.hpp"
#include "tidepool.h"
#include "unique.hpp"

#endif
