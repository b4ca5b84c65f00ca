// Assertions: what must hold where one part hands something to another, and which lock is held. On in debug builds and under
// sanitizers (TIDEPOOL_ASSERTS=1); in release builds they are compiled, never evaluated, and cost nothing. They are for mistakes
// of the library: those of a program are reported (base/report.h).
#pragma once

#include "os/compiler.h"

#if !defined(TIDEPOOL_ASSERTS)
#define TIDEPOOL_ASSERTS 0
#endif

namespace tp {

// Writes a line and aborts.
[[noreturn]] TP_COLD void assertion_failed(const char* condition, const char* function);

}  // namespace tp

#if TIDEPOOL_ASSERTS
#define TP_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::tp::assertion_failed(#condition, __PRETTY_FUNCTION__))
#else
#define TP_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#endif
