#include "checked/owner.h"

#if TIDEPOOL_CHECKED

#include <errno.h>
#include <string.h>

#include "base/report.h"
#include "checked/misuse.h"
#include "checked/secret.h"

namespace tp::check {

namespace {

constexpr size_t most_owners = 65536;
constexpr size_t wait_before_reuse = 4096;
constexpr size_t table_bytes = most_owners * sizeof(Owner);
constexpr size_t commit_bytes = 64 * 1024;

// first_free leads to the owner destroyed longest ago; new ones are appended to the table while few are waiting.
struct Owners {
  Lock lock;
  std::atomic<Owner*> table;
  std::atomic<size_t> used;
  size_t committed;  // bytes
  Owner* first_free;
  Owner* last_free;
  size_t free_count;
  uint32_t next_serial;
  std::atomic<size_t> alive[3];  // by kind
};

constinit Owners owners{};

uint64_t signature_of(const Owner& owner) {
  return mix(secret() ^ reinterpret_cast<uintptr_t>(&owner)) ^ mix(owner.serial);
}

Owner* append() {
  if (owners.table.load(std::memory_order_relaxed) == nullptr) {
    auto* table = static_cast<Owner*>(os::reserve(table_bytes, slice_size));
    if (table == nullptr) return nullptr;
    owners.table.store(table, std::memory_order_release);
  }
  Owner* table = owners.table.load(std::memory_order_relaxed);
  size_t used = owners.used.load(std::memory_order_relaxed);
  if (used == most_owners) return nullptr;
  if ((used + 1) * sizeof(Owner) > owners.committed) {
    if (!os::commit(reinterpret_cast<char*>(table) + owners.committed, commit_bytes)) return nullptr;
    owners.committed += commit_bytes;
  }
  owners.used.store(used + 1, std::memory_order_release);
  return &table[used];
}

Owner* take_free() {
  Owner* owner = owners.first_free;
  if (owner == nullptr) return nullptr;
  owners.first_free = owner->next_free;
  if (owners.first_free == nullptr) owners.last_free = nullptr;
  --owners.free_count;
  return owner;
}

void put_free(Owner* owner) {
  owner->next_free = nullptr;
  if (owners.last_free != nullptr) {
    owners.last_free->next_free = owner;
  } else {
    owners.first_free = owner;
  }
  owners.last_free = owner;
  ++owners.free_count;
}

bool is_owner(const void* pointer) {
  Owner* table = owners.table.load(std::memory_order_acquire);
  size_t offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(table);
  return table != nullptr && offset % sizeof(Owner) == 0 &&
         offset / sizeof(Owner) < owners.used.load(std::memory_order_acquire);
}

}  // namespace

Owner* make_owner(OwnerKind kind, const char* name) {
  Locked locked(owners.lock);
  Owner* owner = owners.free_count > wait_before_reuse ? take_free() : nullptr;
  if (owner == nullptr) owner = append();
  if (owner == nullptr) owner = take_free();
  if (owner == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  memset(static_cast<void*>(owner), 0, sizeof(Owner));
  owner->serial = ++owners.next_serial;
  owner->signature = signature_of(*owner);
  copy_name(owner->name, name);
  owner->kind.store(kind, std::memory_order_release);
  owners.alive[static_cast<size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
  return owner;
}

void abandon_owner(Owner* owner) {
  Locked locked(owners.lock);
  owners.alive[static_cast<size_t>(owner->kind.load(std::memory_order_relaxed))].fetch_sub(1, std::memory_order_relaxed);
  owner->kind.store(OwnerKind::none, std::memory_order_relaxed);
  put_free(owner);
}

void retire_owner(Owner* owner, stacks::StackId stack) {
  Locked locked(owners.lock);
  OwnerKind kind = owner->kind.load(std::memory_order_relaxed);
  owners.alive[static_cast<size_t>(kind)].fetch_sub(1, std::memory_order_relaxed);
  owner->destroyed = stack;
  owner->kind.store(kind == OwnerKind::heap ? OwnerKind::destroyed_heap : OwnerKind::destroyed_pool, std::memory_order_release);
  put_free(owner);
}

Owner* verify_owner(const void* pointer, OwnerKind kind, const char* call) {
  if (!is_owner(pointer)) {
    report_no_owner(pointer, kind, call);
    return nullptr;
  }
  auto* owner = static_cast<Owner*>(const_cast<void*>(pointer));
  if (owner->signature != signature_of(*owner)) fatal("a heap or pool of the checked library was overwritten", owner);
  OwnerKind found = owner->kind.load(std::memory_order_acquire);
  if (found == kind) return owner;
  report_wrong_owner(*owner, found, kind, call);
  return nullptr;
}

size_t count_owners(OwnerKind kind) { return owners.alive[static_cast<size_t>(kind)].load(std::memory_order_relaxed); }

void lock_owners() { owners.lock.lock(); }
void unlock_owners() { owners.lock.unlock(); }

void reset_owners() {
  owners.lock.reset();
  Owner* table = owners.table.load(std::memory_order_relaxed);
  for (size_t i = 0; i < owners.used.load(std::memory_order_relaxed); ++i) table[i].returning.store(0, std::memory_order_relaxed);
}

}  // namespace tp::check

#endif
