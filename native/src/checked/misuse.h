// The texts of the checked library: each names what happened, the address and the size, and where the block was
// allocated and freed. One line each, without allocation. No lock may be held: the handler may look at anything.
#pragma once

#include "checked/owner.h"
#include "checked/record.h"

namespace tp::check {

// call: the entry point that found it. stack: the program's call of it.
// frees: the call would have freed it; otherwise it only used it. The kind is double free either way.
void report_freed_block(const Record& record, bool frees, const char* call, stacks::StackId stack);
void report_unknown_pointer(const void* pointer, const char* call, stacks::StackId stack);
void report_size_mismatch(const Record& record, size_t size, const char* call, stacks::StackId stack);
void report_alignment_mismatch(const Record& record, size_t alignment, const char* call, stacks::StackId stack);
void report_heap_mismatch(const Record& record, const Owner* given, const char* call, stacks::StackId stack);
void report_block_of_destroyed(const Record& record, const char* call, stacks::StackId stack);

// offset: of the first damaged byte, relative to the block.
void report_overflow(const Record& record, ptrdiff_t offset, const char* found_by, stacks::StackId stack);
void report_write_after_free(const Record& record, ptrdiff_t offset, const char* found_by);

// From the signal handler of guarded blocks.
void report_guard_hit(const Record& record, const void* address, const char* access);

void report_no_owner(const void* pointer, OwnerKind kind, const char* call);
void report_wrong_owner(const Owner& owner, OwnerKind found, OwnerKind wanted, const char* call);

void report_leak_at_exit(size_t blocks, size_t bytes, const Record& first);

}  // namespace tp::check
