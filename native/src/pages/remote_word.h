// The remote word of a page: how threads give blocks back to a page that another heap owns.
//
// One 64-bit word, changed by compare-and-swap only:
//   chain    the first batch of blocks that were given back (free_list.h), as offset / 16 + 1; 0: none
//   count    how many blocks the chain has
//   listed   1: the owner knows that it has to look at this page (it is in a queue of the owner, or on its pending stack)
//
// States                      chain  listed
//   Watched                     0      1     in the owner's queue; no thread gave anything back
//   Waiting                    > 0     1     blocks wait; the owner will look, or has been told
//   Unwatched                   0      0     all blocks are out: the owner dropped the page from its queue
//   (chain > 0 and not listed cannot be: the push that adds to an Unwatched page lists it)
//
// Transitions
//   push     any thread    Watched, Waiting -> Waiting     nothing more to do
//                          Unwatched        -> Waiting     the pusher must put the page on its owner's pending stack
//   collect  owner         Waiting          -> Watched     the owner has the chain
//   unwatch  owner         Watched          -> Unwatched   fails when a push came first
//   watch    owner         Unwatched        -> Watched     the owner itself got a block back; true: it was not listed.
//
// A page stays where it is (same owner, same slices) while a block of it is out, so the owner that a pusher reads after
// its push from Unwatched is the one that unwatched it: only listed pages change their owner.
#pragma once

#include <stdint.h>

namespace tp {

struct RemoteWord {
  uint64_t bits = 0;

  static constexpr uint64_t listed_bit = 1;
  static constexpr unsigned count_shift = 1;
  static constexpr uint64_t count_mask = (uint64_t{1} << 24) - 1;
  static constexpr unsigned chain_shift = 32;

  static constexpr RemoteWord watched() { return {listed_bit}; }

  constexpr bool listed() const { return (bits & listed_bit) != 0; }
  constexpr uint32_t count() const { return static_cast<uint32_t>((bits >> count_shift) & count_mask); }
  constexpr uint32_t chain() const { return static_cast<uint32_t>(bits >> chain_shift); }
  constexpr bool empty() const { return chain() == 0; }

  // The word after a push of added blocks whose first batch is at unit and whose last one goes on with the old chain.
  constexpr RemoteWord pushed(uint32_t unit, uint32_t added) const {
    return {(uint64_t{unit} << chain_shift) | ((uint64_t{count()} + added) << count_shift) | listed_bit};
  }

  constexpr bool is_valid() const { return (chain() != 0) == (count() != 0) && (listed() || empty()); }

  friend constexpr bool operator==(RemoteWord, RemoteWord) = default;
};

}  // namespace tp
