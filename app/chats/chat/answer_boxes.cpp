#include "app/chats/chat/answer_boxes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "engine/api/model_kinds.h"

namespace winnow::app {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBoxes = 100;
constexpr std::size_t kMostObjectBytes = 4096;
constexpr std::size_t kMostMarkedBytes = 1024;
constexpr qsizetype kMostLabel = 80;
constexpr double kSlack = 0.05;  // of the picture: what lies that far outside is drawn at its edge

struct BoxKey {
  const char* name;
  std::size_t numbers;
  bool yFirst;
};
constexpr BoxKey kBoxKeys[] = {{"bbox_2d", 4, false}, {"bbox", 4, false}, {"box_2d", 4, true}, {"point_2d", 2, false}};
constexpr const char* kLabelKeys[] = {"label", "text_content"};
constexpr const char* kTimeKeys[] = {"time", "timestamp"};

struct BoxMark {
  std::string_view open;
  std::string_view close;
  std::string_view begins;  // what it holds begins so; other things than boxes stand in GLM-V's
  std::size_t least;        // numbers
};
constexpr BoxMark kBoxMarks[] = {{"<|box_start|>", "<|box_end|>", "", 2},
                                 {"<box>", "</box>", "", 4},
                                 {"<|begin_of_box|>", "<|end_of_box|>", "[[", 4},
                                 {"<point>", "</point>", "", 2}};
constexpr std::pair<std::string_view, std::string_view> kLabelMarks[] = {{"<|object_ref_start|>", "<|object_ref_end|>"},
                                                                         {"<ref>", "</ref>"}};

QString labelOf(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())).simplified().left(kMostLabel);
}

// A number, or one in quotes.
std::optional<double> numberFrom(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_string()) return std::nullopt;
  bool isNumber = false;
  const double number = QString::fromStdString(value.get<std::string>()).toDouble(&isNumber);
  return isNumber ? std::optional(number) : std::nullopt;
}

// Seconds: 12.5, "12.5 seconds", "1:02.5"; negative: it says none.
double secondsFrom(const Json& object) {
  for (const char* const key : kTimeKeys) {
    const auto found = object.find(key);
    if (found == object.end()) continue;
    if (found->is_number()) return found->get<double>();
    if (!found->is_string()) return -1.0;
    double seconds = 0.0;
    for (QString part : QString::fromStdString(found->get<std::string>()).remove(u'<').split(u':')) {
      bool isNumber = false;
      seconds = 60.0 * seconds + part.trimmed().section(u's', 0, 0).toDouble(&isNumber);
      if (!isNumber) return -1.0;
    }
    return seconds;
  }
  return -1.0;
}

// Numbers with white space, commas, semicolons or brackets between them; empty where there is anything else.
std::vector<double> numbersFrom(std::string_view text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    if (std::string_view(" \t\r\n,;()[]").find(*at) != std::string_view::npos) {
      ++at;
      continue;
    }
    double number = 0.0;
    const auto [after, problem] = std::from_chars(at, end, number, std::chars_format::fixed);
    if (problem != std::errc()) return {};
    numbers.push_back(number);
    at = after;
  }
  return numbers;
}

class BoxReader {
 public:
  BoxReader(std::string_view text, BoxScale scale, std::span<const BoxMedium> media) : m_text(text), m_scale(scale), m_media(media) {
    for (int i = 0; i < static_cast<int>(media.size()); ++i) {
      if (media[static_cast<std::size_t>(i)].kind != MediaKind::kDocument) m_pictures.push_back(i);
    }
  }

  std::vector<AnswerBox> read() {
    std::size_t at = 0;
    while (!m_pictures.empty() && m_boxes.size() < kMostBoxes && (at = m_text.find_first_of("<{", at)) != std::string_view::npos)
      at = m_text[at] == '{' ? afterObject(at) : afterMark(at);
    return std::move(m_boxes);
  }

 private:
  // An object within which no other begins; where one does, that is read instead.
  std::size_t afterObject(std::size_t begin) {
    const std::size_t most = std::min(m_text.size(), begin + kMostObjectBytes);
    bool quoted = false;
    for (std::size_t at = begin + 1; at < most; ++at) {
      const char c = m_text[at];
      if (quoted && c == '\\') {
        ++at;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && c == '{') {
        return at;
      } else if (!quoted && c == '}') {
        addObject(Json::parse(m_text.begin() + static_cast<std::ptrdiff_t>(begin), m_text.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                              nullptr, false));
        return at + 1;
      }
    }
    return begin + 1;
  }

  void addObject(const Json& object) {
    if (!object.is_object()) return;
    for (const BoxKey& key : kBoxKeys) {
      const auto found = object.find(key.name);
      if (found == object.end() || !found->is_array() || found->size() != key.numbers) continue;
      std::vector<double> at;
      for (const Json& value : *found) at.push_back(numberFrom(value).value_or(std::nan("")));
      for (std::size_t i = 0; key.yFirst && i < at.size(); i += 2) std::swap(at[i], at[i + 1]);
      AnswerBox box;
      for (const char* const name : kLabelKeys) {
        const auto label = object.find(name);
        if (box.label.isEmpty() && label != object.end() && label->is_string()) box.label = labelOf(label->get_ref<const std::string&>());
      }
      const auto picture = object.find("image_id");
      box.timeS = secondsFrom(object);
      add(box, at, picture != object.end() && picture->is_number_unsigned() ? std::optional(picture->get<std::size_t>()) : std::nullopt);
      return;
    }
  }

  std::size_t afterMark(std::size_t begin) {
    const auto held = [&](std::string_view open, std::string_view close) -> std::optional<std::string_view> {
      if (!m_text.substr(begin).starts_with(open)) return std::nullopt;
      const std::string_view rest = m_text.substr(begin + open.size(), kMostMarkedBytes);
      const std::size_t end = rest.find(close);
      return end == std::string_view::npos ? std::nullopt : std::optional(rest.substr(0, end));
    };
    for (const auto& [open, close] : kLabelMarks) {
      if (const auto label = held(open, close)) {
        m_label = labelOf(*label);
        return m_labelled = begin + open.size() + label->size() + close.size();
      }
    }
    for (const BoxMark& mark : kBoxMarks) {
      const auto numbered = held(mark.open, mark.close);
      if (!numbered || !numbered->starts_with(mark.begins)) continue;
      const std::vector<double> numbers = numbersFrom(*numbered);
      const bool point = numbers.size() == 2 && mark.least == 2;
      if (!point && (numbers.empty() || numbers.size() % 4 != 0)) continue;
      // One label stands before all boxes that follow it.
      const std::string_view between = m_labelled <= begin ? m_text.substr(m_labelled, begin - m_labelled) : "?";
      if (m_labelled == 0 || between.find_first_not_of(" \t\r\n,") != std::string_view::npos) m_label.clear();
      const std::size_t each = point ? 2 : 4;
      for (std::size_t i = 0; i < numbers.size(); i += each) {
        AnswerBox box{.label = m_label};
        add(box, std::span(numbers).subspan(i, each), std::nullopt);
      }
      return m_labelled = begin + mark.open.size() + numbered->size() + mark.close.size();
    }
    return begin + 1;
  }

  // at: x and y of a point, or of two opposite corners. picture: which of them it says it is of.
  void add(AnswerBox box, std::span<const double> at, std::optional<std::size_t> picture) {
    if (m_boxes.size() == kMostBoxes || (picture ? *picture >= m_pictures.size() : m_pictures.size() != 1)) return;
    box.medium = m_pictures[picture.value_or(0)];
    const BoxMedium& medium = m_media[static_cast<std::size_t>(box.medium)];
    if (medium.kind == MediaKind::kImage) box.timeS = -1.0;
    if (medium.kind == MediaKind::kVideo && !(box.timeS >= 0.0 && box.timeS <= medium.durationS + 1.0)) return;
    const bool shares = std::ranges::all_of(at, [](double v) { return v >= 0.0 && v <= 1.0; }) &&
                        std::ranges::any_of(at, [](double v) { return v != std::floor(v); });
    const auto scaleOf = [&](int readPx) { return shares ? 1.0 : m_scale == BoxScale::kThousandths ? 1000.0 : readPx; };
    const double across = scaleOf(medium.readWidthPx);
    const double down = scaleOf(medium.readHeightPx);
    std::array<double, 4> px{};
    for (std::size_t i = 0; i < 4; ++i) {
      const double share = at[i % at.size()] / (i % 2 == 0 ? across : down);  // of nothing: no number, or an infinite one
      if (!(share >= -kSlack && share <= 1.0 + kSlack)) return;
      px[i] = std::clamp(share, 0.0, 1.0) * (i % 2 == 0 ? medium.widthPx : medium.heightPx);
    }
    std::tie(box.left, box.right) = std::minmax(px[0], px[2]);
    std::tie(box.top, box.bottom) = std::minmax(px[1], px[3]);
    box.kind = at.size() == 2 ? AnswerBox::Kind::kPoint : AnswerBox::Kind::kBox;
    const bool area = box.left < box.right && box.top < box.bottom;
    if (medium.widthPx > 0 && medium.heightPx > 0 && (area || box.kind == AnswerBox::Kind::kPoint)) m_boxes.push_back(std::move(box));
  }

  std::string_view m_text;
  BoxScale m_scale;
  std::span<const BoxMedium> m_media;
  std::vector<int> m_pictures;  // the media that are none but documents
  std::vector<AnswerBox> m_boxes;
  QString m_label;             // of the marks last read
  std::size_t m_labelled = 0;  // the end of the text that it is of
};

}  // namespace

std::vector<AnswerBox> boxesIn(std::string_view answer, const QString& family, std::span<const BoxMedium> media) {
  const BoxScale scale = box_scale(family.toStdString());
  return scale == BoxScale::kNone ? std::vector<AnswerBox>() : BoxReader(answer, scale, media).read();
}

nlohmann::ordered_json boxToJson(const AnswerBox& box) {
  const auto tenths = [](double px) { return std::round(px * 10.0) / 10.0; };
  return {{"kind", box.kind == AnswerBox::Kind::kPoint ? "point" : "box"},
          {"label", box.label.toStdString()},
          {"medium", box.medium},
          {"time_s", box.timeS >= 0.0 ? nlohmann::ordered_json(box.timeS) : nlohmann::ordered_json()},
          {"x1", tenths(box.left)},
          {"y1", tenths(box.top)},
          {"x2", tenths(box.right)},
          {"y2", tenths(box.bottom)}};
}

std::vector<PointedPicture> picturesPointedAt(const StoredMessage& answer, const QList<StoredMessage>& messages) {
  std::vector<PointedPicture> pictures;
  if (answer.role != Role::kAssistant || answer.state == MessageState::kStreaming || answer.run.family.isEmpty()) return pictures;
  MessageId wanted = answer.parent;
  for (auto message = messages.rbegin(); message != messages.rend() && wanted != 0; ++message) {
    if (message->id != wanted) continue;
    wanted = message->parent;
    std::vector<BoxMedium> media;
    for (const Attachment& each : message->attachments)
      media.push_back({each.kind, each.widthPx, each.heightPx, each.sampled.readWidthPx, each.sampled.readHeightPx, each.durationS});
    if (std::ranges::all_of(media, [](const BoxMedium& each) { return each.kind == MediaKind::kDocument; })) continue;
    for (AnswerBox& box : boxesIn(answer.text.toStdString(), answer.run.family, media)) {
      const auto same = [&](const PointedPicture& each) { return each.attachment == box.medium && each.timeS == box.timeS; };
      auto picture = std::ranges::find_if(pictures, same);
      if (picture == pictures.end()) picture = pictures.insert(picture, {message->id, box.medium, box.timeS, {}});
      picture->boxes.push_back(std::move(box));
    }
    break;
  }
  return pictures;
}

}  // namespace winnow::app
