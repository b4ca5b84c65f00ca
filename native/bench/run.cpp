// Runs a program with a library preloaded and says what it used.
//
//   tidepool-bench-run LIBRARY|- PROGRAM [ARGUMENT...]
//
// The program's output goes nowhere. Prints the exit code, the user and system time in nanoseconds of the program and of the
// children it waited for, and the largest resident set of one of them in KiB. SIGTERM is passed on, so that a server that is
// stopped this way is reported too.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

volatile pid_t child;

void pass_on(int signal) { kill(child, signal); }

long long nanoseconds(const timeval& time) { return (time.tv_sec * 1'000'000LL + time.tv_usec) * 1000; }

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s LIBRARY|- PROGRAM [ARGUMENT...]\n", arguments[0]);
    return 2;
  }
  // Until the child's number is known a signal would be lost.
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, nullptr);
  pid_t started = fork();
  if (started < 0) return 3;
  if (started == 0) {
    sigprocmask(SIG_UNBLOCK, &term, nullptr);
    int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    if (std::strcmp(arguments[1], "-") != 0) setenv("LD_PRELOAD", arguments[1], 1);
    execvp(arguments[2], arguments + 2);
    _exit(127);
  }
  child = started;
  struct sigaction action = {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigprocmask(SIG_UNBLOCK, &term, nullptr);
  int status;
  rusage used;
  while (wait4(started, &status, 0, &used) != started) {
  }
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::printf("exit %d\nuser_ns %lld\nsystem_ns %lld\npeak_KiB %ld\n", code, nanoseconds(used.ru_utime), nanoseconds(used.ru_stime),
              used.ru_maxrss);
  return 0;
}
