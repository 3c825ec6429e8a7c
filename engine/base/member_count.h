// How many members an aggregate has, for checks that a table of its members forgets none. Any thread.
#pragma once

#include <cstddef>

namespace winnow {

struct AnyMember {
  template <class Member>
  operator Member() const;  // never called
};

template <class Aggregate, class... Members>
consteval std::size_t member_count() {
  if constexpr (requires { Aggregate{Members{}..., AnyMember{}}; }) {
    return member_count<Aggregate, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

}  // namespace winnow
