// Every place where a short text occurs in a long one, in time that is linear in both (Knuth, Morris and Pratt), whatever they hold.
//
// Used by the template language's string methods: std::string::find takes the product of both lengths on texts that a hostile template
// chooses (minutes for 4 MB). Offsets in bytes. Borrows both texts. Threads: confined to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace winnow {

class TextSearch {
 public:
  enum class From : int { kLeft = 1, kRight = 2 };

  // part: not empty.
  TextSearch(std::string_view text, std::string_view part, From from = From::kLeft);

  // The start of the next occurrence that does not overlap the one before, seen from the side where the search started.
  std::optional<std::size_t> next();

  // Comparisons of two bytes so far: at most twice as many as both texts have.
  std::int64_t comparisons() const noexcept { return comparisons_; }

 private:
  // Counted from the side where the search started.
  char of_text(std::size_t i) const { return from_ == From::kLeft ? text_[i] : text_[text_.size() - 1 - i]; }
  char of_part(std::size_t i) const { return from_ == From::kLeft ? part_[i] : part_[part_.size() - 1 - i]; }
  // How much of the part stands before the next character, after `next` with `matched` before it.
  std::size_t advanced(std::size_t matched, char next);

  std::string_view text_;
  std::string_view part_;
  From from_;
  std::vector<std::uint32_t> borders_;  // of the part's first i + 1 bytes: the longest proper prefix that is a suffix, too
  std::size_t at_ = 0;                  // characters looked at
  std::int64_t comparisons_ = 0;
};

}  // namespace winnow
