// A frame loop: an arena, and a subsystem with a budget.
#include <cstdio>
#include <string>
#include <vector>

#include "tidepool/tidepool.hpp"

constinit tp::tag audio{"audio", 1 << 20};

int main() {
  tp::arena frame({.block_size = 16 * 1024});
  std::size_t held = 0;
  for (int i = 0; i < 100; ++i) {
    auto* text = frame.make<std::string>(100, 'x');
    auto numbers = frame.make_span<int>(10000);
    numbers[9999] = static_cast<int>(text->size());
    {
      tp::arena::scope scratch(frame);
      if (frame.allocate(5000) == nullptr || numbers[9999] != 100) return 1;
    }
    frame.reset();
    if (i == 0) held = frame.held();
    if (frame.held() != held) return 2;
  }
  std::vector<float, tp::tagged_allocator<float>> mix(1000, 0.0f, audio);
  if (audio.used() != 4000) return 3;
  if (tp::allocate(audio, 1 << 20) != nullptr) return 4;
  std::puts("frames and budgets work");
}
