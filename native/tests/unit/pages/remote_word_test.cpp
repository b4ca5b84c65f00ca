// Every interleaving of threads that give blocks back to a page with what its owners do, explored to the end: a model of
// heap/flush.cpp (push_remote) and heap/refill.cpp (collect_page, retire_full, settle_page, drain_pending) in which each
// atomic access is one step, with the words made by RemoteWord itself.
#include "pages/remote_word.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using tp::RemoteWord;

// Mistakes that the exploration must find, to show that it can.
enum class Planted { nothing, pusher_tells_nobody, pusher_always_tells, retire_without_compare, settle_with_a_store, collect_unwatches };

enum class Place : uint8_t { queue, full, gone };

constexpr int pushers = 3;

struct Pusher {
  uint8_t at = 0;        // 0 about to load, 1 about to exchange, 2 about to read the owner, 3 about to tell it, 4 done
  uint8_t blocks = 1;    // in its chain
  uint8_t owner = 0;     // that it read
  uint64_t seen = 0;     // the word that it loaded

  auto key() const { return std::tie(at, blocks, owner, seen); }
};

struct State {
  uint64_t word = RemoteWord::watched().bits;
  Place place = Place::queue;
  uint8_t owner = 0;
  uint8_t pending = 0;   // bit h: on the pending stack of heap h
  uint8_t free = 0;      // blocks in the page's own list
  uint8_t used = 0;
  uint8_t renter = 0;    // blocks that the owner's thread has
  uint8_t owner_at = 0;  // 0 idle; 1 retired, to move to the full list; 2 settling: loaded an unlisted word; 3 settled: listed by it
  Pusher pusher[pushers];

  auto key() const {
    return std::tuple_cat(std::tie(word, place, owner, pending, free, used, renter, owner_at), pusher[0].key(), pusher[1].key(),
                          pusher[2].key());
  }
  bool operator<(const State& other) const { return key() < other.key(); }
};

class Exploration {
 public:
  Exploration(Planted planted, uint8_t blocks, uint8_t of_the_renter) : planted_(planted) {
    State start;
    start.renter = of_the_renter;
    start.used = of_the_renter;
    for (Pusher& pusher : start.pusher) start.used = static_cast<uint8_t>(start.used + (pusher.blocks = blocks++));
    visit(start);
    while (!open_.empty() && error_.empty()) {
      State state = open_.back();
      open_.pop_back();
      expand(state);
    }
  }

  const std::string& error() const { return error_; }
  size_t states() const { return seen_.size(); }
  size_t ends() const { return ends_; }

 private:
  void visit(const State& state) {
    if (!RemoteWord{state.word}.is_valid()) error_ = "the word is in none of its states";
    bool has_some = RemoteWord{state.word}.count() != 0 || state.pending != 0;
    if (state.place == Place::gone && has_some) error_ = "a page is gone while blocks come back";
    if (state.pending != 0 && state.place != Place::full && state.owner_at != 1) error_ = "a pending page is not in the full list";
    if (seen_.insert(state).second) open_.push_back(state);
  }

  void expand(const State& state) {
    bool moved = false;
    for (int i = 0; i < pushers; ++i) moved = push_step(state, i) || moved;
    moved = owner_steps(state) || moved;
    if (moved) return;
    // No thread can do anything more: everything must have come back.
    ++ends_;
    if (state.place != Place::gone) error_ = "a block is lost: no thread looks at the page any more";
  }

  bool push_step(State s, int number) {
    Pusher& pusher = s.pusher[number];
    switch (pusher.at) {
      case 0:
        pusher.seen = s.word;
        pusher.at = 1;
        break;
      case 1: {
        RemoteWord seen{pusher.seen};
        if (s.word != pusher.seen) {
          pusher.seen = s.word;  // compare_exchange loads anew
          break;
        }
        s.word = seen.pushed(static_cast<uint32_t>(number) + 1, pusher.blocks).bits;
        bool tell = planted_ == Planted::pusher_tells_nobody ? false : planted_ == Planted::pusher_always_tells ? true : !seen.listed();
        pusher.at = tell ? 2 : 4;
        pusher.seen = 0;
        break;
      }
      case 2:
        if (s.place == Place::gone) error_ = "a pusher reads the owner of a page that is gone";
        pusher.owner = s.owner;
        pusher.at = 3;
        break;
      case 3:
        if ((s.pending & (1 << pusher.owner)) != 0) error_ = "a page is pushed to a pending stack twice";
        s.pending |= static_cast<uint8_t>(1 << pusher.owner);
        pusher.at = 4;
        break;
      default:
        return false;
    }
    visit(s);
    return true;
  }

  // The owner's lock serialises these; a step that began must end before another begins.
  bool owner_steps(const State& s) {
    if (s.owner_at != 0) return finish(s);
    bool moved = false;
    if (s.place == Place::queue) moved = collect(s) || moved;
    if (s.place == Place::queue && s.free == 0) moved = retire(s) || moved;
    if (s.place != Place::gone && s.renter != 0) moved = give_back(s) || moved;
    for (uint8_t heap = 0; heap < 2; ++heap) moved = drain(s, heap) || moved;
    if (s.place == Place::queue && s.owner == 0) {
      // The owner's thread ended, and another heap takes the page from the orphan's queue.
      State next = s;
      next.owner = 1;
      visit(next);
      moved = true;
    }
    return moved;
  }

  bool collect(State s) {
    RemoteWord word{s.word};
    if (word.empty()) return false;
    s.word = planted_ == Planted::collect_unwatches ? 0 : RemoteWord::watched().bits;
    s.free = static_cast<uint8_t>(s.free + word.count());
    s.used = static_cast<uint8_t>(s.used - word.count());
    if (s.used == 0) s.place = Place::gone;
    visit(s);
    return true;
  }

  // Only a page without a block to give is retired.
  bool retire(State s) {
    if (planted_ != Planted::retire_without_compare && s.word != RemoteWord::watched().bits) return false;
    s.word = 0;
    s.owner_at = 1;
    visit(s);
    return true;
  }

  bool give_back(State s) {
    --s.renter;
    --s.used;
    ++s.free;
    if (!RemoteWord{s.word}.listed()) {
      s.owner_at = 2;
    } else if (s.used == 0) {
      s.place = Place::gone;
    }
    visit(s);
    return true;
  }

  bool finish(State s) {
    if (s.owner_at == 1) {
      s.place = Place::full;
      s.owner_at = 0;
    } else if (s.owner_at == 2) {
      bool listed = RemoteWord{s.word}.listed();
      s.word = planted_ == Planted::settle_with_a_store ? RemoteWord::listed_bit : s.word | RemoteWord::listed_bit;
      if (!listed || planted_ == Planted::settle_with_a_store) s.place = Place::queue;
      s.owner_at = 0;
      if (s.used == 0) s.place = Place::gone;
    }
    visit(s);
    return true;
  }

  bool drain(State s, uint8_t heap) {
    if ((s.pending & (1 << heap)) == 0) return false;
    if (s.place != Place::full || s.owner != heap) error_ = "a drained page is not in this heap's full list";
    s.pending = static_cast<uint8_t>(s.pending & ~(1 << heap));
    s.place = Place::queue;
    visit(s);
    return true;
  }

  Planted planted_;
  std::set<State> seen_;
  std::vector<State> open_;
  std::string error_;
  size_t ends_ = 0;
};

TEST(RemoteWord, NoInterleavingLosesABlock) {
  for (uint8_t blocks : {1, 2}) {
    for (uint8_t renter : {0, 1, 2}) {
      Exploration all(Planted::nothing, blocks, renter);
      EXPECT_EQ("", all.error());
      EXPECT_GT(all.states(), 1000u);
      EXPECT_GT(all.ends(), 0u);
    }
  }
}

TEST(RemoteWord, TheExplorationFindsPlantedMistakes) {
  for (Planted planted : {Planted::pusher_tells_nobody, Planted::pusher_always_tells, Planted::retire_without_compare,
                          Planted::settle_with_a_store, Planted::collect_unwatches}) {
    EXPECT_NE("", Exploration(planted, 1, 1).error()) << static_cast<int>(planted);
  }
}

TEST(RemoteWord, FieldsDoNotTouchEachOther) {
  RemoteWord word = RemoteWord::watched();
  EXPECT_TRUE(word.listed() && word.empty() && word.is_valid());
  for (uint32_t unit : {1u, 2u, 4096u, 65536u}) {
    for (uint32_t added : {1u, 255u, 4096u, 65536u}) {
      RemoteWord pushed = word.pushed(unit, added);
      EXPECT_EQ(unit, pushed.chain());
      EXPECT_EQ(added, pushed.count());
      EXPECT_TRUE(pushed.listed() && pushed.is_valid());
      RemoteWord again = pushed.pushed(7, 3);
      EXPECT_EQ(7u, again.chain());
      EXPECT_EQ(added + 3, again.count());
      EXPECT_TRUE(again.listed());
    }
  }
  EXPECT_FALSE(RemoteWord{}.listed());
  EXPECT_TRUE(RemoteWord{}.is_valid());
  RemoteWord unlisted = word.pushed(1, 1);
  unlisted.bits &= ~RemoteWord::listed_bit;
  EXPECT_FALSE(unlisted.is_valid());
}

}  // namespace
