#include "checked/misuse.h"

#if TIDEPOOL_CHECKED

#include "base/report.h"
#include "checked/core.h"
#include "checked/records.h"

namespace tp::check {

namespace {

constexpr unsigned shown_frames = 3;

// "0x7f12 (40 bytes)"
Text& add_block(Text& text, const Record& record) {
  return text.add_address(record.begin()).add(" (").add(record.size).add(" bytes)");
}

void add_place(Text& text, const char* what, stacks::StackId stack) {
  text.add(what);
  stacks::describe(text, stack, shown_frames);
}

void add_history(Text& text, const Record& record) {
  add_place(text, "; allocated at ", record.allocated);
  if (record.state != State::live) add_place(text, "; freed at ", record.freed);
}

void add_owner(Text& text, const Owner* owner) {
  if (owner == nullptr) {
    text.add("no heap");
    return;
  }
  text.add(noun_of(owner->kind.load(std::memory_order_relaxed))).add(" ").add_address(owner);
  if (owner->name[0] != 0) text.add(" '").add(owner->name).add("'");
}

void send(tp_misuse kind, const Record& record, const Text& text) {
  report_misuse(kind, record.begin(), record.size, text.c_str());
}

}  // namespace

void report_freed_block(const Record& record, bool frees, const char* call, stacks::StackId stack) {
  Text text;
  text.add(frees ? "double free: " : "use after free: ").add(call).add(" of ");
  add_block(text, record);
  add_place(text, ", which is free already; called at ", stack);
  add_history(text, record);
  send(tp_misuse_double_free, record, text);
}

void report_unknown_pointer(const void* pointer, const char* call, stacks::StackId stack) {
  Record record;
  Text text;
  if (find_containing(pointer, &record)) {
    ptrdiff_t offset = static_cast<const unsigned char*>(pointer) - record.begin();
    text.add("interior pointer: ").add(call).add(" of ").add_address(pointer).add(", which is ");
    text.add(static_cast<size_t>(offset < 0 ? -offset : offset)).add(offset < 0 ? " bytes before " : " bytes into ");
    add_block(text, record);
    add_place(text, "; called at ", stack);
    add_history(text, record);
    report_misuse(tp_misuse_interior_pointer, pointer, record.size, text.c_str());
    return;
  }
  text.add("foreign pointer: ").add(call).add(" of ").add_address(pointer).add(" (size unknown), ");
  text.add(core_owns(pointer) ? "where no block begins" : "which is not in memory of this library");
  if (deepbind_was_used()) text.add("; a library that was loaded with RTLD_DEEPBIND has the C library's malloc");
  add_place(text, "; called at ", stack);
  report_misuse(tp_misuse_foreign_pointer, pointer, 0, text.c_str());
}

void report_size_mismatch(const Record& record, size_t size, const char* call, stacks::StackId stack) {
  Text text;
  text.add("size mismatch: ").add(call).add(" of ");
  add_block(text, record).add(" with size ").add(size);
  add_place(text, "; called at ", stack);
  add_history(text, record);
  send(tp_misuse_size_mismatch, record, text);
}

void report_alignment_mismatch(const Record& record, size_t alignment, const char* call, stacks::StackId stack) {
  Text text;
  text.add("size mismatch: ").add(call).add(" of ");
  add_block(text, record).add(", aligned to ").add(record.alignment()).add(", with alignment ").add(alignment);
  add_place(text, "; called at ", stack);
  add_history(text, record);
  send(tp_misuse_size_mismatch, record, text);
}

void report_heap_mismatch(const Record& record, const Owner* given, const char* call, stacks::StackId stack) {
  Text text;
  text.add("heap mismatch: ").add(call).add(" of ");
  add_block(text, record).add(", which is of ");
  add_owner(text, record.owner);
  text.add(", to ");
  add_owner(text, given);
  add_place(text, "; called at ", stack);
  add_history(text, record);
  send(tp_misuse_heap_mismatch, record, text);
}

void report_block_of_destroyed(const Record& record, const char* call, stacks::StackId stack) {
  Text text;
  text.add("destroyed heap: ").add(call).add(" of ");
  add_block(text, record).add(", whose heap or pool is destroyed");
  add_place(text, "; called at ", stack);
  add_place(text, "; allocated at ", record.allocated);
  add_place(text, "; destroyed at ", record.freed);
  send(tp_misuse_destroyed_heap, record, text);
}

void report_overflow(const Record& record, ptrdiff_t offset, const char* found_by, stacks::StackId stack) {
  Text text;
  text.add(offset < 0 ? "overflow: the bytes before " : "overflow: the bytes behind ");
  add_block(text, record).add(" were written, the nearest at offset ").add_signed(offset);
  add_place(text.add("; found by ").add(found_by), " at ", stack);
  add_history(text, record);
  send(tp_misuse_overflow, record, text);
}

void report_write_after_free(const Record& record, ptrdiff_t offset, const char* found_by) {
  Text text;
  text.add("write after free: ");
  add_block(text, record).add(" was written at offset ").add_signed(offset).add("; found by ").add(found_by);
  add_history(text, record);
  send(tp_misuse_write_after_free, record, text);
}

void report_guard_hit(const Record& record, const void* address, const char* access) {
  bool live = record.state == State::live;
  ptrdiff_t offset = static_cast<const unsigned char*>(address) - record.begin();
  Text text;
  text.add(live ? "overflow: " : "write after free: ").add(access).add(live ? " past the end of " : " of the freed block ");
  add_block(text, record).add(" at offset ").add_signed(offset);
  add_history(text, record);
  send(live ? tp_misuse_overflow : tp_misuse_write_after_free, record, text);
}

void report_no_owner(const void* pointer, OwnerKind kind, const char* call) {
  Text text;
  text.add("foreign pointer: ").add(call).add(" with ").add_address(pointer).add(" (size unknown), which is no ");
  add_place(text.add(noun_of(kind)), "; called at ", stacks::capture(checked_depth));
  report_misuse(tp_misuse_foreign_pointer, pointer, 0, text.c_str());
}

void report_wrong_owner(const Owner& owner, OwnerKind found, OwnerKind wanted, const char* call) {
  bool destroyed = found == OwnerKind::destroyed_heap || found == OwnerKind::destroyed_pool;
  Text text;
  text.add(destroyed ? "destroyed heap: " : "heap mismatch: ").add(call).add(" with ");
  add_owner(text, &owner);
  text.add(" (").add(owner.live_bytes.load(std::memory_order_relaxed)).add(" bytes live), which is ");
  text.add(destroyed ? "destroyed" : wanted == OwnerKind::pool ? "no pool" : "no heap");
  add_place(text, "; called at ", stacks::capture(checked_depth));
  add_place(text, "; created at ", owner.created);
  if (destroyed) add_place(text, "; destroyed at ", owner.destroyed);
  report_misuse(destroyed ? tp_misuse_destroyed_heap : tp_misuse_heap_mismatch, &owner,
                owner.live_bytes.load(std::memory_order_relaxed), text.c_str());
}

void report_leak_at_exit(size_t blocks, size_t bytes, const Record& first) {
  Text text;
  text.add("leak: ").add(blocks).add(blocks == 1 ? " block, " : " blocks, ").add(bytes);
  text.add(" bytes, live at exit; the first is ");
  add_block(text, first);
  add_place(text, "; allocated at ", first.allocated);
  send(tp_misuse_leak, first, text);
}

}  // namespace tp::check

#endif
