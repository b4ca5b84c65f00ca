// The table as a header that the library is built with: -DTIDEPOOL_SIZE_CLASSES=FILE.
#pragma once

#include <iosfwd>

#include "tune.h"

namespace tune {

void write_table(std::ostream& output, const Profile& profile, const Classes& classes);

}  // namespace tune
