#include "profile/sample_log.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
constexpr size_t first_bytes = size_t{64} << 10;  // of the file; it doubles,
constexpr size_t step_bytes = size_t{1} << 20;    // and from here on grows by so much
constexpr size_t most_bytes = size_t{1} << 29;
constexpr size_t most_module_words = 8192;
constexpr size_t most_path = 1024;
constexpr unsigned most_names = 100;

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
constinit dev_t device = 0;  // of the file: its name may be another's by now
constinit ino_t inode = 0;
// The records of modules, one behind another. A child of a fork keeps them and need not ask the loader: a thread that the child does
// not have may have held the loader's lock.
constinit uint64_t modules[most_module_words] = {};
constinit size_t module_words = 0;
constinit uint64_t noted_stacks[stacks::most_stacks / 64 + 1] = {};

uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t thread_number() { return static_cast<uint64_t>(syscall(SYS_gettid)); }

Header& header() { return *reinterpret_cast<Header*>(map); }

size_t largest_file() {
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur >= most_bytes) return most_bytes;
  return static_cast<size_t>(most.rlim_cur) / first_bytes * first_bytes;
}

// Gives the file so many bytes. The limit is looked at each time, since a signal ends a process that exceeds it.
bool reserve(int file, size_t bytes) {
  int error = EFBIG;
  if (bytes <= largest_file()) {
    do error = posix_fallocate(file, static_cast<off_t>(usable), static_cast<off_t>(bytes - usable));
    while (error == EINTR);
  }
  errno = error;
  if (error == 0) usable = bytes;
  return error == 0;
}

// The file is opened for each step: a program may close descriptors that it did not open.
bool extend(size_t bytes) {
  os::NoCancellation while_open;
  int file = ::open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  struct stat found{};
  bool is_ours = fstat(file, &found) == 0 && found.st_dev == device && found.st_ino == inode;
  bool extended = is_ours && reserve(file, bytes);
  ::close(file);
  return extended;
}

bool grow(size_t needed) {
  size_t bytes = usable + (usable < step_bytes ? usable : step_bytes);
  if (bytes > limit) bytes = limit;
  return needed <= bytes && extend(bytes);
}

uint64_t head_of(Kind kind, uint64_t argument, size_t words) { return static_cast<uint64_t>(kind) | words << 8 | argument << 32; }
size_t words_of(const uint64_t* record) { return record[0] >> 8 & 0xffffff; }

// Makes room behind the last record; the caller fills it, then calls publish.
uint64_t* begin_record(Kind kind, uint64_t argument, size_t words) {
  size_t bytes = (words + 1) * sizeof(uint64_t);
  if (filled + bytes > usable && !grow(filled + bytes)) {
    header().lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  auto* record = reinterpret_cast<uint64_t*>(map + filled);
  record[0] = head_of(kind, argument, words + 1);
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

void note_module(const uint64_t* record) {
  size_t words = words_of(record) - 1;
  uint64_t* copy = begin_record(Kind::module, record[0] >> 32, words);
  if (copy == nullptr) return;
  memcpy(copy, record + 1, words * sizeof(uint64_t));
  publish();
}

void note_known_modules() {
  for (size_t at = 0; at < module_words; at += words_of(modules + at)) note_module(modules + at);
}

void add_to_path(uint64_t number) {
  char digits[24];
  char* digit = digits + sizeof(digits) - 1;
  *digit = 0;
  for (; number != 0; number /= 10) *--digit = static_cast<char>('0' + number % 10);
  strcat(path, ".");
  strcat(path, digit);
}

// A file that was not there. Negative: errno says why.
int create() {
  for (unsigned taken = 0; taken < most_names; ++taken) {
    strcpy(path, prefix_of_all);
    add_to_path(static_cast<uint64_t>(getpid()));
    if (taken != 0) add_to_path(taken);
    int file = ::open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

bool map_file(int file) {
  struct stat made{};
  if (fstat(file, &made) != 0 || !reserve(file, first_bytes)) return false;
  void* mapped = mmap(nullptr, limit, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return false;
  map = static_cast<char*>(mapped);
  device = made.st_dev;
  inode = made.st_ino;
  return true;
}

// Creates the file and maps it, or leaves none.
bool make_file() {
  os::NoCancellation while_open;
  limit = largest_file();
  usable = 0;
  int file = create();
  if (file < 0) return false;
  bool mapped = map_file(file);
  int error = errno;
  if (!mapped) ::unlink(path);
  ::close(file);
  errno = error;
  return mapped;
}

void begin() {
  if (!make_file()) {
    auto error = static_cast<size_t>(errno);
    Text().add("tidepool: TIDEPOOL_SAMPLE_LOG: ").add(path).add(" cannot be written, errno ").add(error).add("\n").write_to(2);
    state.store(State::off, std::memory_order_relaxed);
    return;
  }
  memset(noted_stacks, 0, sizeof(noted_stacks));
  filled = header_bytes;
  memcpy(header().magic, "tidepool-samples", sizeof(header().magic));
  header().version = version;
  header().header_bytes = header_bytes;
  header().mean_bytes = mean;
  header().start = now();
  header().process = static_cast<uint64_t>(getpid());
  note_classes();
  note_known_modules();
  state.store(State::on, std::memory_order_release);
}

// True when records may be written. The lock is held.
bool is_usable() {
  if (state.load(std::memory_order_relaxed) == State::waiting) begin();
  return state.load(std::memory_order_relaxed) == State::on;
}

bool is_noted(stacks::StackId stack) { return (noted_stacks[stack / 64] >> (stack % 64) & 1) != 0; }

bool is_in_module(uintptr_t address) {
  for (size_t at = 0; at < module_words; at += words_of(modules + at)) {
    if (address >= modules[at + 2] && address < modules[at + 3]) return true;
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

// The loader holds its lock here and takes ours; nothing waits for the loader while it holds ours.
int add_module(dl_phdr_info* info, size_t, void*) {
  uintptr_t first = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (start < first) first = start;
    if (start + segment.p_memsz > end) end = start + segment.p_memsz;
  }
  char program[most_path];
  const char* file = info->dlpi_name;
  size_t length = file != nullptr ? strlen(file) : 0;
  if (length == 0) {  // the program itself
    ssize_t read = readlink("/proc/self/exe", program, sizeof(program));
    file = program;
    length = read > 0 ? static_cast<size_t>(read) : 0;
  }
  size_t words = 4 + (length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  Locked locked(lock);
  if (!is_usable() || is_in_module(first) || words > most_module_words - module_words) return 0;
  uint64_t* record = modules + module_words;
  module_words += words;
  record[0] = head_of(Kind::module, length, words);
  record[1] = info->dlpi_addr;
  record[2] = first;
  record[3] = end;
  memcpy(record + 4, file, length);
  note_module(record);
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
  if (missing.modules) dl_iterate_phdr(add_module, nullptr);
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
