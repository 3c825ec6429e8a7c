// Lists of a struct's fields: visit_fields(value, visit) calls visit(name, field) for every field, in order.
//
// These lists make what is stored or sent, in both directions: saved chats, kept caches, messages between programs, logs, tables and
// the terminal's JSON. WINNOW_FIELDS(TimedLine, start_s, end_s, text), in the struct's namespace, writes
//
//   template <FieldsOf<TimedLine> F>
//   constexpr void visit_fields(F& f, auto&& visit) {
//     visit("start_s", f.start_s);
//     visit("end_s", f.end_s);
//     visit("text", f.text);
//   }
//
// A field is named as its member, in snake_case: durationS is "duration_s". Where the names differ, the function is written out. A field
// that is added is in all of what is made of the list; one that is renamed is lost from what was saved before.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace winnow {

template <class Value, class Struct>
concept FieldsOf = std::same_as<std::remove_const_t<Value>, Struct>;

// It has a list.
template <class Value>
concept HasFields = requires(Value& value) {
  visit_fields(value, [](const char*, auto&) {});
};

// A member's name in snake_case.
template <std::size_t N>
struct FieldName {
  consteval FieldName(const char (&member)[N]) {  // NOLINT: implicit on purpose
    char* end = text;
    for (char letter : member) {
      if (letter >= 'A' && letter <= 'Z') {
        *end++ = '_';
        letter += 'a' - 'A';
      }
      *end++ = letter;
    }
  }
  char text[2 * N] = {};
};
template <FieldName kName>
inline constexpr const char* kFieldName = kName.text;

}  // namespace winnow

// The preprocessor has no loops. WINNOW_VISIT visits the first member and leaves the call for the others unfinished, since a macro isn't
// expanded within itself; each rescan finishes one such call. 64 are enough: a longer list does not compile.
#define WINNOW_FIELDS(Struct, ...)                                                    \
  template <::winnow::FieldsOf<Struct> F>                                             \
  constexpr void visit_fields([[maybe_unused]] F& f, [[maybe_unused]] auto&& visit) { \
    __VA_OPT__(WINNOW_RESCAN_64(WINNOW_VISIT(__VA_ARGS__)))                           \
  }
#define WINNOW_VISIT(member, ...)                 \
  visit(::winnow::kFieldName<#member>, f.member); \
  __VA_OPT__(WINNOW_VISIT_LATER WINNOW_NO_ARGUMENTS(__VA_ARGS__))
#define WINNOW_VISIT_LATER() WINNOW_VISIT
#define WINNOW_NO_ARGUMENTS ()
#define WINNOW_RESCAN_64(...) WINNOW_RESCAN_16(WINNOW_RESCAN_16(WINNOW_RESCAN_16(WINNOW_RESCAN_16(__VA_ARGS__))))
#define WINNOW_RESCAN_16(...) WINNOW_RESCAN_4(WINNOW_RESCAN_4(WINNOW_RESCAN_4(WINNOW_RESCAN_4(__VA_ARGS__))))
#define WINNOW_RESCAN_4(...) WINNOW_RESCAN(WINNOW_RESCAN(WINNOW_RESCAN(WINNOW_RESCAN(__VA_ARGS__))))
#define WINNOW_RESCAN(...) __VA_ARGS__
