// The checked library as a whole: start, quarantine, statistics, leaks, validity.
#pragma once

#include "base/config.h"

namespace tp::check {

// Sets the checked library up. Runs before every first block and heap; later calls do nothing.
void start();

// Verifies every block in quarantine and gives it back to the core; returns bytes. tp_purge calls it first.
size_t drain_quarantine();

// Corrects what the core cannot know: live bytes by exact size, blocks in quarantine are cached, heaps and pools alive.
void adjust_statistics(tp_statistics& statistics);

// Writes the live blocks by allocating call stack to standard error; returns their number. For tp_report_leaks.
size_t report_leaks();

// Verifies every canary and the poison of every block in quarantine. For tp_is_valid, beside the core's own.
bool is_valid();

}  // namespace tp::check
