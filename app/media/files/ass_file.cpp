#include "app/media/files/ass_file.h"

#include <QStringList>
#include <algorithm>
#include <optional>

#include "app/media/files/subtitle_markup.h"
#include "app/media/files/subtitle_times.h"

namespace winnow::app {
namespace {

constexpr qsizetype kLookedThrough = 4096;  // for a section's head

// The columns of an event's fields; the last takes all that is left.
struct EventFields {
  qsizetype start = 1, end = 2, text = 9;
};

EventFields fieldsOf(QStringView format) {
  const QList<QStringView> names = format.split(u',');
  EventFields fields;
  for (qsizetype i = 0; i < names.size(); ++i) {
    const QStringView name = names[i].trimmed();
    if (name.compare(u"Start", Qt::CaseInsensitive) == 0) fields.start = i;
    if (name.compare(u"End", Qt::CaseInsensitive) == 0) fields.end = i;
    if (name.compare(u"Text", Qt::CaseInsensitive) == 0) fields.text = i;
  }
  return fields;
}

std::optional<SubtitleCue> eventOf(QStringView line, const EventFields& fields, SubtitleLosses& losses) {
  std::vector<QStringView> values;
  for (qsizetype field = 0; field < fields.text; ++field) {
    const qsizetype comma = line.indexOf(u',');
    if (comma < 0) break;
    values.push_back(line.left(comma).trimmed());
    line = line.sliced(comma + 1);
  }
  const auto last = static_cast<std::size_t>(std::max(fields.start, fields.end));
  const bool whole = static_cast<qsizetype>(values.size()) == fields.text && last < values.size();
  const auto start = whole ? subtitleSeconds(values[static_cast<std::size_t>(fields.start)]) : std::nullopt;
  const auto end = whole ? subtitleSeconds(values[static_cast<std::size_t>(fields.end)]) : std::nullopt;
  if (!start || !end) {
    ++losses.untimed;
    return std::nullopt;
  }
  SubtitleCue cue{*start, *end, plainCue(line.toString(), SubtitleMarkup::kAss, losses)};
  if (cue.lines.empty()) return std::nullopt;
  return cue;
}

}  // namespace

bool isAssFile(QStringView text) {
  const QStringView head = text.left(kLookedThrough);
  return head.trimmed().startsWith(u"[Script Info]", Qt::CaseInsensitive) || head.startsWith(u"[Events]", Qt::CaseInsensitive) ||
         head.contains(u"\n[Events]", Qt::CaseInsensitive);
}

std::vector<SubtitleCue> readAssFile(QStringView text, SubtitleLosses& losses) {
  std::vector<SubtitleCue> cues;
  EventFields fields;
  bool inEvents = false;
  for (const QStringView whole : text.split(u'\n')) {
    const QStringView line = whole.trimmed();
    if (line.startsWith(u'[')) inEvents = line.compare(u"[Events]", Qt::CaseInsensitive) == 0;
    const qsizetype colon = line.indexOf(u':');
    if (!inEvents || colon < 0) continue;
    const QStringView kind = line.left(colon), rest = line.sliced(colon + 1);
    if (kind.compare(u"Format", Qt::CaseInsensitive) == 0) fields = fieldsOf(rest);
    if (kind.compare(u"Dialogue", Qt::CaseInsensitive) != 0) continue;
    if (std::optional<SubtitleCue> cue = eventOf(rest, fields, losses)) cues.push_back(std::move(*cue));
  }
  return cues;
}

}  // namespace winnow::app
