// Threads that are cancelled (pthread_cancel) in the middle of what a test does.
#pragma once

#include <pthread.h>

#include <thread>

namespace test {

// Whether the body gets to its end in a thread that is to be cancelled at the first point where it can be.
template <typename Body>
bool ends_though_cancelled(Body body) {
  bool ended = false;
  std::thread([&] {
    pthread_cancel(pthread_self());
    body();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    ended = true;
  }).join();
  return ended;
}

}  // namespace test
