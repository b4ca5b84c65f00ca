// A pool whose objects end in another thread.
#include <cstdio>
#include <thread>
#include <vector>

#include "tidepool/tidepool.hpp"

struct entity {
  explicit entity(int number) : id(number) { ++alive; }
  ~entity() { --alive; }
  int id;
  static inline int alive = 0;
};

int main() {
  tp::pool<entity> entities({.name = "entities"});
  std::vector<entity*> made;
  for (int i = 0; i < 1000; ++i) made.push_back(entities.construct(i));
  if (entity::alive != 1000 || made[999]->id != 999) return 1;
  std::thread([&] {
    for (entity* each : made) entities.destroy(each);
  }).join();
  if (entity::alive != 0 || entities.get_usage().live_bytes != 0) return 2;
  std::puts("entities came and went");
}
