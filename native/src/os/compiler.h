// What the compiler is told.
#pragma once

#define TP_NOINLINE __attribute__((noinline))
#define TP_COLD __attribute__((noinline, cold))
