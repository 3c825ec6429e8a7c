#include "app/engine/remote/think_marks.h"

#include <algorithm>
#include <utility>

namespace winnow::app {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
    {"<think>", "</think>"}, {"<thinking>", "</thinking>"},     {"<thought>", "</thought>"}, {"<reasoning>", "</reasoning>"},
    {"[THINK]", "[/THINK]"}, {"<seed:think>", "</seed:think>"}, {"◁think▷", "◁/think▷"}};

// How much of the text's end could be white space before the mark, and its beginning.
std::size_t beginOfEnd(std::string_view text, std::string_view mark) {
  std::size_t end = text.size();
  for (std::size_t length = std::min(text.size(), mark.size() - 1); length > 0; --length) {
    if (!text.ends_with(mark.substr(0, length))) continue;
    end -= length;
    break;
  }
  return text.substr(0, end).find_last_not_of(kSpace) + 1;
}

}  // namespace

void ThinkMarks::add(std::string_view text, const Take& take) {
  m_held += text;
  while (advance(take)) {
  }
}

// True: the state has changed, and what is held is looked at again.
bool ThinkMarks::advance(const Take& take) {
  const std::size_t space = std::min(m_held.find_first_not_of(kSpace), m_held.size());
  switch (m_state) {
    case State::kBeginning: {
      const std::string_view said = std::string_view(m_held).substr(space);
      for (const auto& [begin, end] : kMarks) {
        if (!said.starts_with(begin)) continue;
        m_held.erase(0, space + begin.size());
        m_end = end;
        m_state = State::kThought;
        return true;
      }
      if (std::ranges::any_of(kMarks, [said](const auto& mark) { return mark.first.starts_with(said); })) return false;
      m_state = State::kAnswer;
      return true;
    }
    case State::kThought: {
      const std::size_t end = m_held.find(m_end);
      if (end == std::string::npos) {
        tell(beginOfEnd(m_held, m_end), TextKind::kThought, take);
        return false;
      }
      std::string rest = m_held.substr(end + m_end.size());
      tell(std::string_view(m_held).substr(0, end).find_last_not_of(kSpace) + 1, TextKind::kThought, take);
      m_held = std::move(rest);
      m_state = State::kBehindThought;
      return true;
    }
    case State::kBehindThought:
      m_held.erase(0, space);
      if (m_held.empty()) return false;
      m_state = State::kAnswer;
      return true;
    case State::kAnswer: tell(m_held.size(), TextKind::kAnswer, take); return false;
  }
  return false;
}

void ThinkMarks::tell(std::size_t bytes, TextKind kind, const Take& take) {
  std::string told = m_held.substr(0, bytes);
  m_held.erase(0, bytes);
  if (told.empty()) return;
  if (kind == TextKind::kThought && std::exchange(m_atBegin, false)) told.erase(0, told.find_first_not_of(kSpace));
  take({std::move(told), kind});
}

void ThinkMarks::end(const Take& take) {
  if (m_state != State::kThought) return tell(m_held.size(), TextKind::kAnswer, take);
  tell(m_held.find_last_not_of(kSpace) + 1, TextKind::kThought, take);
}

}  // namespace winnow::app
