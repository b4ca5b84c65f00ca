// The classic hand-written pool, as a rival: one list of free blocks behind one std::mutex for each of 48 size classes, a
// table from size to class, and four bytes in front of each block that hold its size. Memory is never given back.
//
// It is reproduced as it was described, faults included: because of the four bytes the pointers are 4 modulo 16, so they
// are not aligned for double or max_align_t, and aligned_alloc is called with sizes that are no multiple of the alignment.
// It therefore has no place in programs that run under the sanitizers.
#ifndef TIDEPOOL_BENCH_MUTEX_POOL_H
#define TIDEPOOL_BENCH_MUTEX_POOL_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace bench {

class mutex_pool {
 public:
  mutex_pool() {
    std::size_t list = 0, below = 0;
    for (std::size_t size = 32; size <= largest; size += size < 1024 ? 32 : size < 2048 ? 128 : 256, ++list) {
      lists_[list].block_size = static_cast<std::uint32_t>(size);
      for (std::size_t n = below; n <= size; ++n) list_of_[n] = static_cast<std::uint8_t>(list);
      below = size + 1;
    }
  }

  void* rent(std::size_t size) {
    if (size > largest) return with_header(std::aligned_alloc(alignment, size + header), static_cast<std::uint32_t>(size));
    list& from = lists_[list_of_[size]];
    {
      std::lock_guard lock(from.mutex);
      if (!from.free.empty()) {
        void* block = from.free.back();
        from.free.pop_back();
        return block;
      }
    }
    return with_header(std::aligned_alloc(alignment, from.block_size + header), from.block_size);
  }

  void give_back(void* block) {
    std::uint32_t size;
    char* begin = static_cast<char*>(block) - header;
    std::memcpy(&size, begin, header);
    if (size > largest) return std::free(begin);
    list& to = lists_[list_of_[size]];
    std::lock_guard lock(to.mutex);
    to.free.push_back(block);
  }

 private:
  static constexpr std::size_t header = sizeof(std::uint32_t);
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t largest = 4096;

  struct list {
    std::mutex mutex;
    std::vector<void*> free;
    std::uint32_t block_size = 0;
  };

  static void* with_header(void* begin, std::uint32_t size) {
    if (begin == nullptr) throw std::bad_alloc();
    std::memcpy(begin, &size, header);
    return static_cast<char*>(begin) + header;
  }

  list lists_[48];  // 32 to 1024 in steps of 32, to 2048 of 128, to 4096 of 256
  std::uint8_t list_of_[largest + 1] = {};
};

}  // namespace bench
#endif
