// The command loop of the drivers: one command a line on standard input, one answer a line on standard output.
//
//   hello                                  ok PATH            the file that malloc comes from
//   run WORKLOAD SIZE THREADS MICROSECONDS ok NS OPS FIRST SECOND
//   paused MILLISECONDS SIZE...            ok NS OPS FIRST SECOND
//
// NS is the wall time of the timed passes, OPS their operations, FIRST and SECOND the parts of NS that renting and returning
// took (0 where a workload does not tell them apart). Anything else is answered by "error TEXT".
//
// Reading and writing go through static buffers and the system calls: a stream would allocate.
#ifndef TIDEPOOL_BENCH_SERVE_H
#define TIDEPOOL_BENCH_SERVE_H

#include <dlfcn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "workloads.h"

namespace bench {

[[gnu::format(printf, 1, 2)]] inline void answer(const char* format, ...) {
  static char line[4400];
  va_list arguments;
  va_start(arguments, format);
  int length = std::vsnprintf(line, sizeof(line) - 1, format, arguments);
  va_end(arguments);
  line[length++] = '\n';
  for (int sent = 0; sent < length;) {
    ssize_t now_sent = write(1, line + sent, static_cast<std::size_t>(length - sent));
    if (now_sent <= 0) std::exit(0);  // no reader
    sent += static_cast<int>(now_sent);
  }
}

// The next line without its end, split at spaces; 0 words at the end of the input.
class command {
 public:
  bool read() {
    count_ = 0;
    std::size_t length = 0;
    while (true) {
      char next;
      if (::read(0, &next, 1) != 1) return false;
      if (next == '\n') break;
      if (length < sizeof(line_) - 1) line_[length++] = next;
    }
    line_[length] = 0;
    char* rest = line_;
    for (char* word; count_ < most && (word = strtok_r(rest, " ", &rest)) != nullptr;) words_[count_++] = word;
    return true;
  }

  std::size_t count() const { return count_; }
  std::string_view word(std::size_t index) const { return index < count_ ? words_[index] : ""; }
  std::size_t number(std::size_t index) const { return index < count_ ? std::strtoul(words_[index], nullptr, 10) : 0; }

 private:
  static constexpr std::size_t most = 16;
  char line_[512];
  char* words_[most];
  std::size_t count_ = 0;
};

// One untimed pass, so that what other workloads did to caches and pages is not charged to this one; then timed passes until
// the time is up, at least one.
template <class Loop>
timing measure(parameters p, std::uint64_t microseconds) {
  Loop loop(p);
  loop.pass();
  timing sum;
  do {
    sum += loop.pass();
  } while (sum.nanoseconds < static_cast<double>(microseconds) * 1000);
  return sum;
}

// Bulk of several sizes, each time after the process did nothing for the given time. Two pauses are not timed, once in a process:
// an allocator may learn from them.
template <class Face>
timing measure_paused(const command& line) {
  static bool has_learned = false;
  constexpr int lessons = 2, timed = 2;
  std::uint64_t pause = line.number(1) * 1000;
  // The driver's own arrays are there before the first pause and are not part of the time.
  bulk_loop<Face, false>* loops[16];
  std::size_t count = line.count() - 2;
  alignas(bulk_loop<Face, false>) static char room[16][sizeof(bulk_loop<Face, false>)];
  for (std::size_t i = 0; i < count; ++i) {
    loops[i] = new (room[i]) bulk_loop<Face, false>({line.number(i + 2), 1});
    loops[i]->touch_slots();
  }
  auto work = [&] {
    timing sum;
    for (std::size_t i = 0; i < count; ++i) sum += loops[i]->pass();
    return sum;
  };
  // The time before this call is no pause of the program, so work comes first.
  work();
  for (int i = has_learned ? lessons : 0; i < lessons; ++i) {
    usleep(static_cast<useconds_t>(pause));
    work();
  }
  has_learned = true;
  timing sum;
  for (int i = 0; i < timed; ++i) {
    usleep(static_cast<useconds_t>(pause));
    sum += work();
  }
  for (std::size_t i = 0; i < count; ++i) loops[i]->~bulk_loop();
  return sum;
}

inline void answer(const timing& t) { answer("ok %.0f %.0f %.0f %.0f", t.nanoseconds, t.operations, t.first, t.second); }

inline bool is_sound(const command& line) {
  return line.count() == 5 && line.number(2) <= 1 << 16 && line.number(3) >= 1 && line.number(3) <= crew::most;
}

inline void answer_hello() {
  Dl_info where;
  void* symbol = dlsym(RTLD_DEFAULT, "malloc");
  if (symbol != nullptr && dladdr(symbol, &where) != 0) {
    answer("ok %s", where.dli_fname);
  } else {
    answer("error malloc cannot be found");
  }
}

// Answers "run"; false when the face has no such workload.
template <class Face, bool ManyThreads>
bool answer_run(std::string_view workload, parameters p, std::uint64_t microseconds) {
  if ((p.threads > 1 && !ManyThreads) || (p.size == 0) != (workload == "mixed")) return false;
  if (workload == "pair") {
    answer(measure<pair_loop<Face>>(p, microseconds));
  } else if (workload == "bulk") {
    answer(measure<bulk_loop<Face, false>>(p, microseconds));
  } else if (workload == "stress") {
    answer(measure<bulk_loop<Face, true>>(p, microseconds));
  } else if (workload == "mixed") {
    answer(measure<mixed_loop<Face>>(p, microseconds));
  } else if (workload == "ring" && ManyThreads) {
    answer(measure<ring_loop<Face>>(p, microseconds));
  } else {
    return false;
  }
  return true;
}

// Reads commands until the input ends. run(line, p) answers "run", other(line) everything that is not known here; both
// return false when they do not know it either.
template <class Run, class Other>
int serve(Run run, Other other) {
  // A process that never had a second thread takes shortcuts in locks and in the C library's malloc: none of the programs in
  // question is one, and which cell came first must not matter.
  crew::run(2, [](void*, unsigned) {}, nullptr);
  command line;
  while (line.read()) {
    parameters p{line.number(2), static_cast<unsigned>(line.number(3))};
    if (line.word(0) == "run" ? is_sound(line) && run(line, p) : other(line)) continue;
    answer("error the command is not known");
  }
  return 0;
}

// For faces that serve any size.
template <class Face, bool ManyThreads = true>
int serve_any_size() {
  return serve([](const command& line, parameters p) { return answer_run<Face, ManyThreads>(line.word(1), p, line.number(4)); },
               [](const command& line) {
                 if (line.word(0) == "hello") {
                   answer_hello();
                 } else if (line.word(0) == "paused" && line.count() > 2) {
                   answer(measure_paused<Face>(line));
                 } else {
                   return false;
                 }
                 return true;
               });
}

// For faces whose size is part of their type.
template <template <std::size_t> class Face, bool ManyThreads, class Other>
int serve_fixed_sizes(Other other) {
  return serve(
      [](const command& line, parameters p) {
        std::uint64_t microseconds = line.number(4);
        switch (p.size) {
          case 64: return answer_run<Face<64>, ManyThreads>(line.word(1), p, microseconds);
          case 512: return answer_run<Face<512>, ManyThreads>(line.word(1), p, microseconds);
          case 4096: return answer_run<Face<4096>, ManyThreads>(line.word(1), p, microseconds);
          default: return false;
        }
      },
      other);
}

}  // namespace bench
#endif
