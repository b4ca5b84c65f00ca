#include "profile/stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unwind.h>

#include "os/lock.h"

namespace tp::stacks {

namespace {

// Stacks lie one behind another in reserved address space: {hash, frame count, frames}. offsets[id] says where, and
// buckets is an open hash table of ids. All three are appended to under the lock and read without it: an id is published
// only when its stack is complete.
struct Store {
  Lock lock;
  std::atomic<uint32_t> ready;  // 0: not made yet, 1: usable, 2: no memory
  uint32_t used;                // words
  uint32_t committed;           // words
  std::atomic<uint32_t> count;
  uintptr_t* words;
  std::atomic<uint32_t>* offsets;
  std::atomic<uint32_t>* buckets;
};

constinit Store store{};

constexpr uint32_t bucket_count = most_stacks * 2;
constexpr size_t table_bytes = (most_stacks + bucket_count) * sizeof(uint32_t);
constexpr size_t word_bytes = size_t{most_stacks} * 20 * sizeof(uintptr_t);
constexpr uint32_t word_limit = word_bytes / sizeof(uintptr_t);
constexpr size_t commit_bytes = 64 * 1024;

bool make_store() {
  auto* map = static_cast<char*>(os::reserve(table_bytes + word_bytes, slice_size));
  if (map == nullptr || !os::commit(map, table_bytes)) return false;
  store.offsets = reinterpret_cast<std::atomic<uint32_t>*>(map);
  store.buckets = store.offsets + most_stacks;
  store.words = reinterpret_cast<uintptr_t*>(map + table_bytes);
  return true;
}

bool is_ready() {
  uint32_t ready = store.ready.load(std::memory_order_acquire);
  if (ready == 0) {
    Locked locked(store.lock);
    ready = store.ready.load(std::memory_order_relaxed);
    if (ready == 0) store.ready.store(ready = make_store() ? 1 : 2, std::memory_order_release);
  }
  return ready == 1;
}

uint32_t hash_of(const uintptr_t* frames, unsigned count) {
  uint64_t hash = count;
  for (unsigned i = 0; i < count; ++i) {
    hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<uint32_t>(hash >> 32) | 1;
}

bool is_stack(StackId id, uint32_t hash, const uintptr_t* frames, unsigned count) {
  const uintptr_t* words = store.words + store.offsets[id - 1].load(std::memory_order_relaxed);
  return words[0] == hash && words[1] == count && memcmp(words + 2, frames, count * sizeof(uintptr_t)) == 0;
}

// Finds the bucket that holds the stack (then *found is its id), or the empty one where it belongs.
uint32_t find(uint32_t hash, const uintptr_t* frames, unsigned count, StackId* found) {
  for (uint32_t at = hash & (bucket_count - 1);; at = (at + 1) & (bucket_count - 1)) {
    StackId id = store.buckets[at].load(std::memory_order_acquire);
    if (id == 0 || is_stack(id, hash, frames, count)) {
      *found = id;
      return at;
    }
  }
}

bool make_room(uint32_t words) {
  if (store.used + words > word_limit) return false;
  while (store.used + words > store.committed) {
    if (!os::commit(store.words + store.committed, commit_bytes)) return false;
    store.committed += commit_bytes / sizeof(uintptr_t);
  }
  return true;
}

StackId append(uint32_t hash, const uintptr_t* frames, unsigned count) {
  Locked locked(store.lock);
  StackId id = 0;
  uint32_t bucket = find(hash, frames, count, &id);  // another thread may have been first
  if (id != 0) return id;
  uint32_t before = store.count.load(std::memory_order_relaxed);
  if (before == most_stacks || !make_room(count + 2)) return 0;
  uintptr_t* words = store.words + store.used;
  words[0] = hash;
  words[1] = count;
  memcpy(words + 2, frames, count * sizeof(uintptr_t));
  store.offsets[before].store(store.used, std::memory_order_relaxed);
  store.used += count + 2;
  store.count.store(before + 1, std::memory_order_release);
  store.buckets[bucket].store(before + 1, std::memory_order_release);
  return before + 1;
}

// ---- the library's own code

struct Module {
  uintptr_t begin, end;
};

int find_own_module(dl_phdr_info* info, size_t, void* result) {
  auto self = reinterpret_cast<uintptr_t>(&find_own_module);
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (start < begin) begin = start;
    if (start + segment.p_memsz > end) end = start + segment.p_memsz;
  }
  if (self < begin || self >= end) return 0;
  // Linked into the program, the library's frames cannot be told from the program's.
  uintptr_t program = getauxval(AT_PHDR);
  if (program < begin || program >= end) *static_cast<Module*>(result) = {begin, end};
  return 1;
}

// Written by the first threads that ask, always with the same values: begin before end, and end != 0 means known.
std::atomic<uintptr_t> own_begin{0}, own_end{0};

Module own_module() {
  Module own{own_begin.load(std::memory_order_relaxed), own_end.load(std::memory_order_acquire)};
  if (own.end != 0) return Module{own_begin.load(std::memory_order_relaxed), own.end};
  own = {0, 1};
  dl_iterate_phdr(find_own_module, &own);
  own_begin.store(own.begin, std::memory_order_relaxed);
  own_end.store(own.end, std::memory_order_release);
  return own;
}

struct Walk {
  uintptr_t frames[most_frames];
  unsigned count;
  unsigned depth;
  Module own;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  uintptr_t address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.count == 0 && address >= walk.own.begin && address < walk.own.end) return _URC_NO_REASON;
  walk.frames[walk.count++] = address;
  return walk.count == walk.depth ? _URC_END_OF_STACK : _URC_NO_REASON;
}

const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

void describe_frame(Text& text, uintptr_t address) {
  // A return address may be the first byte of the next function: the call lies before it.
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address - 1), &info) == 0 || info.dli_fname == nullptr) {
    text.add("0x").add_hex(address);
    return;
  }
  if (info.dli_sname != nullptr) {
    char name[64];
    strncpy(name, info.dli_sname, sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    text.add(name).add("+0x").add_hex(address - reinterpret_cast<uintptr_t>(info.dli_saddr)).add(" ");
  }
  text.add("(").add(file_name(info.dli_fname)).add("+0x");
  text.add_hex(address - reinterpret_cast<uintptr_t>(info.dli_fbase)).add(")");
}

}  // namespace

StackId capture(unsigned depth) {
  int saved = errno;
  Walk walk{};
  walk.depth = depth < most_frames ? depth : most_frames;
  walk.own = own_module();
  _Unwind_Backtrace(visit, &walk);
  StackId id = 0;
  if (walk.count != 0 && is_ready()) {
    uint32_t hash = hash_of(walk.frames, walk.count);
    find(hash, walk.frames, walk.count, &id);
    if (id == 0) id = append(hash, walk.frames, walk.count);
  }
  errno = saved;
  return id;
}

Frames frames_of(StackId id) {
  if (id == 0 || id > count()) return {nullptr, 0};
  const uintptr_t* words = store.words + store.offsets[id - 1].load(std::memory_order_relaxed);
  return {words + 2, static_cast<unsigned>(words[1])};
}

uint32_t count() { return store.count.load(std::memory_order_acquire); }

void describe(Text& text, StackId id, unsigned most) {
  Frames frames = frames_of(id);
  if (frames.count == 0) text.add("an unknown place");
  for (unsigned i = 0; i < frames.count && i < most; ++i) {
    if (i != 0) text.add(" < ");
    describe_frame(text, frames.addresses[i]);
  }
}

void before_fork() { store.lock.lock(); }
void after_fork_in_parent() { store.lock.unlock(); }
void after_fork_in_child() { store.lock.reset(); }

}  // namespace tp::stacks
