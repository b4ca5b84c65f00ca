#include "os/assert.h"

#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "os/os.h"

namespace tp {

void assertion_failed(const char* condition, const char* function) {
  for (const char* part : {"tidepool: assertion failed: ", condition, " in ", function, "\n"}) os::write_all(2, part, strlen(part));
  abort();
}

}  // namespace tp
