// A tokenizer's regular expression, run by PCRE2 under limits.
//
// Used by the tokenizer's pre-tokenization, and to replace what a pattern finds. The pattern is Oniguruma's dialect as Hugging Face writes
// it; \s, \S, \p{L} and \p{N} are rewritten so that they mean what they mean there (Unicode 16, White_Space). Matching is not compiled to
// machine code, and every match has a step, depth and heap limit; what a pattern cannot match within them comes back as `bytewise`. Errors
// of the constructor: Exception, kDamagedFile (no valid pattern) or kLimitExceeded (longer than 64 KiB). Threads: confined to one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

struct TextPiece {
  std::size_t begin = 0;  // bytes
  std::size_t end = 0;
  bool bytewise = false;  // the pattern hit its limit here: one token per byte
};

class SplitPattern {
 public:
  static constexpr std::size_t kWindowBytes = std::size_t{64} * 1024;  // no piece is longer

  // subject: for errors.
  SplitPattern(std::string_view pattern, const std::string& subject);
  ~SplitPattern();
  SplitPattern(SplitPattern&&) noexcept;
  SplitPattern& operator=(SplitPattern&&) noexcept;

  // Appends matches and the gaps between them, in order, without empty pieces; together they are text[begin, end). text: valid UTF-8.
  // Equal to an unlimited match wherever no match is longer than the window. should_stop is asked between matches; true ends the work
  // with nothing more appended and the result false.
  template <typename ShouldStop>
  bool split(std::string_view text, std::size_t begin, std::size_t end, std::vector<TextPiece>& pieces, ShouldStop&& should_stop) const;

  // Calls on_match(begin, end) for every match in order, those of no characters but directly behind another one included, until it returns
  // false. False: it did, or the pattern hit its limit.
  template <typename OnMatch>
  bool for_each_match(std::string_view text, OnMatch&& on_match) const;

 private:
  enum class Outcome { kMatch, kNoMatch, kLimit };
  struct Match {
    Outcome outcome = Outcome::kNoMatch;
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Compiled;

  // Characters newer than PCRE2's Unicode need long classes, which cost three times as much on every text: only where they occur.
  enum class Classes { kPlain, kExtended };
  static Classes classes_for(std::string_view text);
  Match match(Classes classes, std::string_view text, std::size_t from) const;

  std::unique_ptr<Compiled> compiled_;
};

template <typename OnMatch>
bool SplitPattern::for_each_match(std::string_view text, OnMatch&& on_match) const {
  const Classes classes = classes_for(text);
  std::size_t done = std::string_view::npos;  // end of the match before
  for (std::size_t search = 0; search <= text.size();) {
    const Match found = match(classes, text, search);
    if (found.outcome == Outcome::kNoMatch) return true;
    if (found.outcome == Outcome::kLimit) return false;
    if (found.end > found.begin || found.end != done) {
      if (!on_match(found.begin, found.end)) return false;
    }
    done = found.end;
    search = found.end;
    if (found.end > found.begin) continue;
    do ++search;
    while (search < text.size() && (static_cast<unsigned char>(text[search]) & 0xC0) == 0x80);
  }
  return true;
}

// The end of a window that starts at `from`, moved back to the start of a character.
std::size_t window_end(std::string_view text, std::size_t from, std::size_t end);

template <typename ShouldStop>
bool SplitPattern::split(std::string_view text, std::size_t begin, std::size_t end, std::vector<TextPiece>& pieces,
                         ShouldStop&& should_stop) const {
  const auto push = [&](std::size_t from, std::size_t to, bool bytewise) {
    // A gap may span windows; cut it so that no piece is longer than one.
    while (from < to) {
      const std::size_t cut = window_end(text, from, to);
      pieces.push_back({from, cut, bytewise});
      from = cut;
    }
  };
  const Classes classes = classes_for(text.substr(begin, end - begin));
  std::size_t done = begin;    // everything before is in pieces
  std::size_t search = begin;  // no match starts in [done, search)
  while (done < end) {
    if (should_stop()) return false;
    const std::size_t window = window_end(text, search, end);
    // The subject starts at `begin`, so that a look-behind sees what is before the match and an anchor does not match in the middle.
    Match found = search < window ? match(classes, text.substr(begin, window - begin), search - begin) : Match{};
    found.begin += begin;
    found.end += begin;
    if (found.outcome == Outcome::kLimit) {
      push(done, search, false);
      push(search, window, true);
      done = search = window;
    } else if (found.outcome == Outcome::kNoMatch) {
      if (window == end) {
        push(done, end, false);
        return true;
      }
      // A match may begin in the window's second half and end behind it.
      const std::size_t half = window_end(text, search, search + (window - search) / 2);
      search = half > search ? half : window;
    } else if (found.end == window && window < end && found.begin > search) {
      search = found.begin;  // it may go on behind the window: look again with a whole window before it
    } else if (found.end == found.begin) {
      push(done, found.begin, false);
      done = found.begin;
      if (found.begin >= end) break;
      search = found.begin + 1;
      while (search < end && (static_cast<unsigned char>(text[search]) & 0xC0) == 0x80) ++search;
      if (search >= end) {
        push(done, end, false);
        return true;
      }
    } else {
      push(done, found.begin, false);
      push(found.begin, found.end, false);
      done = search = found.end;
    }
  }
  return true;
}

}  // namespace winnow
