// The statistics, with struct_size set.
#pragma once

#include "tidepool/tidepool.h"

namespace test {

inline tp_statistics statistics() {
  tp_statistics s{};
  s.struct_size = sizeof(s);
  tp_get_statistics(&s);
  return s;
}

inline tp_class_statistics class_statistics(size_t index) {
  tp_class_statistics s{};
  s.struct_size = sizeof(s);
  tp_get_class_statistics(index, &s);
  return s;
}

}  // namespace test
