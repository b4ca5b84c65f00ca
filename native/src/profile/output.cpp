#include "profile/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace tp::profile {

Output::Output(const char* path) {
  file_ = path != nullptr ? ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  if (file_ < 0) fail(path != nullptr ? errno : EINVAL);
}

Output::~Output() {
  if (file_ >= 0) ::close(file_);
}

void Output::fail(int error) {
  if (error_ == 0) error_ = error;
}

void Output::write(const char* bytes, size_t length) {
  while (length != 0 && error_ == 0) {
    size_t part = length < capacity - used_ ? length : capacity - used_;
    memcpy(buffer_ + used_, bytes, part);
    used_ += part;
    bytes += part;
    length -= part;
    if (used_ == capacity) flush();
  }
}

void Output::flush() {
  size_t done = 0;
  while (done != used_ && error_ == 0) {
    ssize_t written = ::write(file_, buffer_ + done, used_ - done);
    if (written > 0) {
      done += static_cast<size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      fail(written == 0 ? EIO : errno);
    }
  }
  used_ = 0;
}

void Output::append_file(const char* path) {
  int source = ::open(path, O_RDONLY | O_CLOEXEC);
  if (source < 0) return fail(errno);
  char part[1024];
  for (;;) {
    ssize_t length = ::read(source, part, sizeof(part));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) fail(errno);
    if (length <= 0) break;
    write(part, static_cast<size_t>(length));
  }
  ::close(source);
}

bool Output::close() {
  flush();
  if (file_ >= 0 && ::close(file_) != 0) fail(errno);
  file_ = -1;
  if (error_ != 0) errno = error_;
  return error_ == 0;
}

}  // namespace tp::profile
