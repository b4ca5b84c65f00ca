#include "profile/sample_log.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/lock.h"

namespace tp::profile::sample_log {

namespace {

enum class Kind : uint64_t { module = 1, stack = 2, allocation = 3, release = 4, classes = 5 };

// waiting: in the child of a fork, until its first sample.
enum class State : uint32_t { off, on, waiting };

constexpr size_t header_bytes = 4096;
constexpr size_t step_bytes = size_t{1} << 20;  // the file grows by so much
constexpr size_t most_bytes = size_t{1} << 29;
constexpr size_t most_modules = 256;
constexpr size_t most_path = 1024;

struct Module {
  uintptr_t begin, end;
};

constinit Lock lock;
constinit std::atomic<State> state{State::off};
// All of these: lock.
constinit char* map = nullptr;
constinit size_t filled = 0;  // bytes, the header included
constinit size_t usable = 0;  // bytes that the file has
constinit size_t limit = 0;
constinit uint64_t mean = 0;
constinit char prefix_of_all[most_path] = {};
constinit char path[most_path + 32] = {};
constinit Module modules[most_modules] = {};
constinit size_t module_count = 0;
constinit uint64_t noted_stacks[stacks::most_stacks / 64 + 1] = {};

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t thread_number() { return static_cast<uint64_t>(syscall(SYS_gettid)); }

Header& header() { return *reinterpret_cast<Header*>(map); }

// The file is opened for each step: a program may close descriptors that it did not open.
bool extend(int flags, size_t bytes) {
  int file = ::open(path, flags | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return false;
  int error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (map == nullptr && error == 0) {
    void* mapped = mmap(nullptr, limit, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) error = errno;
    else map = static_cast<char*>(mapped);
  }
  ::close(file);
  errno = error;
  if (error == 0) usable = bytes;
  return error == 0;
}

size_t largest_file() {
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur >= most_bytes) return most_bytes;
  return static_cast<size_t>(most.rlim_cur) / step_bytes * step_bytes;
}

// Makes room behind the last record; the caller fills it, then calls publish.
uint64_t* begin_record(Kind kind, uint64_t argument, size_t words) {
  size_t bytes = (words + 1) * sizeof(uint64_t);
  if (filled + bytes > usable && (usable + step_bytes > limit || !extend(0, usable + step_bytes))) {
    header().lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  auto* record = reinterpret_cast<uint64_t*>(map + filled);
  record[0] = static_cast<uint64_t>(kind) | (words + 1) << 8 | argument << 32;
  filled += bytes;
  return record + 1;
}

void publish() { header().used.store(filled - header_bytes, std::memory_order_release); }

void note_classes() {
  uint64_t* words = begin_record(Kind::classes, class_count, class_count);
  if (words == nullptr) return;
  for (size_t bin = 1; bin <= class_count; ++bin) words[bin - 1] = detail::size_of_bin(bin);
  publish();
}

void make_path() {
  char digits[24];
  char* digit = digits + sizeof(digits) - 1;
  *digit = 0;
  for (auto process = static_cast<uint64_t>(getpid()); process != 0; process /= 10) *--digit = static_cast<char>('0' + process % 10);
  strcpy(path, prefix_of_all);
  strcat(path, ".");
  strcat(path, digit);
}

void begin() {
  make_path();
  limit = largest_file();
  module_count = 0;
  memset(noted_stacks, 0, sizeof(noted_stacks));
  filled = header_bytes;
  errno = EFBIG;
  if (limit == 0 || !extend(O_CREAT | O_TRUNC, step_bytes)) {
    auto error = static_cast<size_t>(errno);
    Text().add("tidepool: TIDEPOOL_SAMPLE_LOG: ").add(path).add(" cannot be written, errno ").add(error).add("\n").write_to(2);
    state.store(State::off, std::memory_order_relaxed);
    return;
  }
  memcpy(header().magic, "tidepool-samples", sizeof(header().magic));
  header().version = version;
  header().header_bytes = header_bytes;
  header().mean_bytes = mean;
  header().start = now();
  header().process = static_cast<uint64_t>(getpid());
  note_classes();
  state.store(State::on, std::memory_order_release);
}

// True when records may be written. The lock is held.
bool is_usable() {
  if (state.load(std::memory_order_relaxed) == State::waiting) begin();
  return state.load(std::memory_order_relaxed) == State::on;
}

bool is_noted(stacks::StackId stack) { return (noted_stacks[stack / 64] >> (stack % 64) & 1) != 0; }

bool is_in_module(uintptr_t address) {
  for (size_t i = 0; i < module_count; ++i) {
    if (address >= modules[i].begin && address < modules[i].end) return true;
  }
  return false;
}

// Whether the stack is to be recorded, and whether the loader has to be asked first.
struct Missing {
  bool stack, modules;
};

Missing find_missing(stacks::StackId stack) {
  Locked locked(lock);
  if (stack == 0 || !is_usable() || is_noted(stack)) return {false, false};
  stacks::Frames frames = stacks::frames_of(stack);
  for (unsigned i = 0; i < frames.count; ++i) {
    if (!is_in_module(frames.addresses[i])) return {true, true};
  }
  return {true, false};
}

void write_module(const Module& module, uintptr_t load, const char* file, size_t length) {
  size_t path_words = (length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  uint64_t* words = begin_record(Kind::module, length, 3 + path_words);
  if (words == nullptr) return;
  words[0] = load;
  words[1] = module.begin;
  words[2] = module.end;
  memset(words + 3, 0, path_words * sizeof(uint64_t));
  memcpy(words + 3, file, length);
  publish();
}

// The loader holds its lock here and takes ours; nothing waits for the loader while it holds ours.
int note_module(dl_phdr_info* info, size_t, void*) {
  Module module{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (start < module.begin) module.begin = start;
    if (start + segment.p_memsz > module.end) module.end = start + segment.p_memsz;
  }
  char program[most_path];
  const char* file = info->dlpi_name;
  size_t length = file != nullptr ? strlen(file) : 0;
  if (length == 0) {  // the program itself
    ssize_t read = readlink("/proc/self/exe", program, sizeof(program));
    file = program;
    length = read > 0 ? static_cast<size_t>(read) : 0;
  }
  Locked locked(lock);
  if (!is_usable() || module_count == most_modules || is_in_module(module.begin)) return 0;
  modules[module_count++] = module;
  write_module(module, info->dlpi_addr, file, length);
  return 0;
}

}  // namespace

void open(const char* prefix, uint64_t mean_bytes) {
  if (prefix == nullptr || *prefix == 0 || mean_bytes == 0) return;
  Locked locked(lock);
  if (state.load(std::memory_order_relaxed) != State::off) return;
  if (strlen(prefix) >= most_path || *prefix != '/') {
    Text().add("tidepool: TIDEPOOL_SAMPLE_LOG=").add(prefix).add(" is ignored: a path from the root is expected\n").write_to(2);
    return;
  }
  int saved = errno;
  strcpy(prefix_of_all, prefix);
  mean = mean_bytes;
  begin();
  errno = saved;
}

bool is_open() { return state.load(std::memory_order_acquire) != State::off; }

void note_stack(stacks::StackId stack) {
  int saved = errno;
  Missing missing = find_missing(stack);
  if (missing.modules) dl_iterate_phdr(note_module, nullptr);
  if (missing.stack) {
    Locked locked(lock);
    stacks::Frames frames = stacks::frames_of(stack);
    uint64_t* words = is_usable() && !is_noted(stack) ? begin_record(Kind::stack, stack, frames.count) : nullptr;
    if (words != nullptr) {
      for (unsigned i = 0; i < frames.count; ++i) words[i] = frames.addresses[i];
      noted_stacks[stack / 64] |= uint64_t{1} << (stack % 64);
      publish();
    }
  }
  errno = saved;
}

void note_allocation(const void* block, size_t requested, stacks::StackId stack, uint32_t blocks) {
  int saved = errno;
  Locked locked(lock);
  if (uint64_t* words = is_usable() ? begin_record(Kind::allocation, stack, 4) : nullptr; words != nullptr) {
    words[0] = reinterpret_cast<uintptr_t>(block);
    words[1] = now();
    words[2] = requested;
    words[3] = thread_number() | uint64_t{blocks} << 32;
    publish();
  }
  errno = saved;
}

void note_release(const void* block) {
  int saved = errno;
  Locked locked(lock);
  // What was allocated before the fork is none of the child's samples.
  if (state.load(std::memory_order_relaxed) == State::on) {
    if (uint64_t* words = begin_record(Kind::release, thread_number(), 2); words != nullptr) {
      words[0] = reinterpret_cast<uintptr_t>(block);
      words[1] = now();
      publish();
    }
  }
  errno = saved;
}

void before_fork() { lock.lock(); }
void after_fork_in_parent() { lock.unlock(); }

void after_fork_in_child() {
  lock.reset();
  if (state.load(std::memory_order_relaxed) == State::off) return;
  if (map != nullptr) munmap(map, limit);  // the parent's
  map = nullptr;
  state.store(State::waiting, std::memory_order_relaxed);
}

}  // namespace tp::profile::sample_log
