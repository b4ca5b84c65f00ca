// The first thing that each C++ header includes: one clear line in front of what an older standard makes of the rest.
#if !defined(__cplusplus)
#error "this is a C++ header of Tidepool: C programs include <tidepool/tidepool.h>"
#elif __cplusplus < 202002L
#error "Tidepool's C++ headers need C++20: compile with -std=c++20 or later; <tidepool/tidepool.h> alone needs only C99 or C++11"
#endif
