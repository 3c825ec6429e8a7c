#include "app/media/files/subtitle_markup.h"

#include <QRegularExpression>
#include <QStringView>
#include <algorithm>
#include <array>
#include <optional>

#include "app/media/files/character_references.h"

namespace winnow::app {
namespace {

constexpr qsizetype kLongestTag = 300;  // of "<", what it says, ">"

// The text that may follow a tag's name.
enum class Behind { kNothing, kAttributes, kWords };

struct Tag {
  QStringView name;
  Behind behind;
};
constexpr std::array kTags = std::to_array<Tag>(
    {{u"b", Behind::kNothing},       {u"i", Behind::kNothing},       {u"u", Behind::kNothing},    {u"s", Behind::kNothing},
     {u"strike", Behind::kNothing},  {u"strong", Behind::kNothing},  {u"em", Behind::kNothing},   {u"small", Behind::kNothing},
     {u"big", Behind::kNothing},     {u"sub", Behind::kNothing},     {u"sup", Behind::kNothing},  {u"tt", Behind::kNothing},
     {u"br", Behind::kNothing},      {u"c", Behind::kNothing},       {u"ruby", Behind::kNothing}, {u"rt", Behind::kNothing},
     {u"font", Behind::kAttributes}, {u"span", Behind::kAttributes}, {u"p", Behind::kAttributes}, {u"v", Behind::kWords},
     {u"lang", Behind::kWords}});

bool isNameCharacter(QChar c) { return c.unicode() < 0x80 && c.isLetterOrNumber(); }

// "00:01:02.500": when the words behind it are said.
bool isTime(QStringView text) {
  if (!text.contains(u':') || !text.front().isDigit()) return false;
  return std::ranges::all_of(text, [](QChar c) { return c.isDigit() || c == u':' || c == u'.'; });
}

// name="value", name=value, one or more.
bool areAttributes(QStringView text) {
  static const QRegularExpression kAttributes(QStringLiteral(R"(^(\s+[A-Za-z][A-Za-z-]*\s*=\s*("[^"]*"|'[^']*'|[^\s"'=]+))+\s*$)"));
  return kAttributes.match(text.toString()).hasMatch();
}

// The tag of what stands between "<" and ">"; none: it is text.
const Tag* tagOf(QStringView inside) {
  const bool closes = inside.startsWith(u'/');
  if (closes) inside = inside.sliced(1);
  qsizetype length = 0;
  while (length < inside.size() && isNameCharacter(inside[length])) ++length;
  const auto* tag =
      std::ranges::find_if(kTags, [&](const Tag& each) { return inside.left(length).compare(each.name, Qt::CaseInsensitive) == 0; });
  if (tag == kTags.end()) return nullptr;
  QStringView rest = inside.sliced(length);
  if (rest.startsWith(u'.')) {  // classes: "c.loud.red"
    qsizetype classes = 0;
    while (classes < rest.size() && !rest[classes].isSpace()) ++classes;
    rest = rest.sliced(classes);
  }
  if (rest.endsWith(u'/')) rest.chop(1);
  const bool bare = rest.trimmed().isEmpty();
  if (bare) return tag;
  if (closes || !rest.front().isSpace() || tag->behind == Behind::kNothing) return nullptr;
  return tag->behind == Behind::kWords || areAttributes(rest) ? tag : nullptr;
}

QString withoutTags(const QString& text, SubtitleLosses& losses) {
  QString plain;
  plain.reserve(text.size());
  for (qsizetype at = 0; at < text.size(); ++at) {
    if (text[at] == u'<') {
      const QStringView rest = QStringView(text).sliced(at + 1).left(kLongestTag);
      const QStringView inside = rest.left(std::max<qsizetype>(0, rest.indexOf(u'>')));
      const Tag* tag = inside.isEmpty() ? nullptr : tagOf(inside);
      if (tag != nullptr || (!inside.isEmpty() && isTime(inside))) {
        if (tag != nullptr && tag->name == u"v" && !inside.startsWith(u'/') && inside.contains(u' ')) ++losses.speakers;
        if (tag != nullptr && tag->name == u"br") plain += u'\n';
        at += inside.size() + 1;
        continue;
      }
    }
    plain += text[at];
  }
  return plain;
}

// True if an override block switches drawing: {\p1} on, {\p0} off; none: it says nothing of it. {\pos(..)} and {\pbo3} are others.
std::optional<bool> drawingAfter(QStringView block) {
  std::optional<bool> draws;
  for (qsizetype at = block.indexOf(u"\\p"); at >= 0; at = block.indexOf(u"\\p", at + 2)) {
    if (at + 2 < block.size() && block[at + 2].isDigit()) draws = block[at + 2] != u'0';
  }
  return draws;
}

// all: every block between braces is one, as in ASS; else those that begin with a back slash.
QString withoutOverrides(const QString& text, bool all, SubtitleLosses& losses) {
  QString plain;
  plain.reserve(text.size());
  bool draws = false, closes = true;
  for (qsizetype at = 0; at < text.size(); ++at) {
    const bool begins = closes && text[at] == u'{' && (all || (at + 1 < text.size() && text[at + 1] == u'\\'));
    const qsizetype end = begins ? text.indexOf(u'}', at) : -1;
    closes = closes && !(begins && end < 0);  // looked for no further once there is none
    if (end < 0) {
      if (!draws) plain += text[at];
      continue;
    }
    const bool before = draws;
    draws = drawingAfter(QStringView(text).sliced(at, end - at)).value_or(draws);
    losses.drawings += draws && !before ? 1 : 0;
    at = end;
  }
  return plain;
}

}  // namespace

std::vector<QString> plainCue(const QString& cue, SubtitleMarkup markup, SubtitleLosses& losses) {
  const bool ass = markup == SubtitleMarkup::kAss;
  QString text = withoutOverrides(cue, ass, losses);
  if (ass) {
    text.replace(QLatin1String("\\N"), QLatin1String("\n")).replace(QLatin1String("\\n"), QLatin1String("\n"));
    text.replace(QLatin1String("\\h"), QLatin1String(" "));
  } else {
    text = withoutReferences(withoutTags(text, losses));
  }
  for (QChar& c : text) {
    if (c != u'\n' && c.category() == QChar::Other_Control) c = u' ';
  }
  std::vector<QString> lines;
  for (const QStringView line : QStringView(text).split(u'\n')) {
    if (QString said = line.toString().simplified(); !said.isEmpty()) lines.push_back(std::move(said));
  }
  return lines;
}

}  // namespace winnow::app
