// For field lists of figure structs: visit_fields(figures, visit) calls visit(name, field) for every number of a struct, in order.
//
// The list stands under the struct. What is stored of figures (saved chats, logs of evaluations, tables, the terminal's JSON) is made of
// it, in both directions: a figure that is added there is in all of them, and one that is renamed is lost from what was saved before.
#pragma once

#include <concepts>
#include <type_traits>

namespace winnow {

template <class Figures, class Struct>
concept FieldsOf = std::same_as<std::remove_const_t<Figures>, Struct>;

// It has a list.
template <class Figures>
concept HasFields = requires(Figures& figures) {
  visit_fields(figures, [](const char*, auto&) {});
};

}  // namespace winnow
