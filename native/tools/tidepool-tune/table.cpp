#include "table.h"

#include <iomanip>
#include <ostream>

namespace tune {

void write_table(std::ostream& output, const Profile& profile, const Classes& classes) {
  output << "// Size classes that tidepool-tune made from " << profile.requests() << " recorded requests. Build the library, and\n"
         << "// every program that uses its inline headers, with -DTIDEPOOL_SIZE_CLASSES and the path of this file.\n"
         << "#pragma once\n\n#include <cstdint>\n\nnamespace tp::detail {\ninline constexpr std::uint32_t class_sizes[] = {";
  constexpr std::size_t in_a_row = 8;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    output << (i % in_a_row == 0 ? "\n    " : " ") << std::setw(5) << classes[i] << ",";
  }
  output << "\n};\n}  // namespace tp::detail\n";
}

}  // namespace tune
