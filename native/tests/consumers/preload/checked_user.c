/* Linked with libtidepool-checked. */
#include <stdio.h>
#include <tidepool/tidepool.h>

int main(void) {
  puts(tp_is_checked() ? "checked" : "not checked");
  return 0;
}
