// Attributes for the compiler.
#pragma once

#define TP_NOINLINE __attribute__((noinline))
#define TP_COLD __attribute__((noinline, cold))
