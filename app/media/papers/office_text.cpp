#include "app/media/papers/office_text.h"

#include <QHash>
#include <QXmlStreamReader>
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

struct Meaning {
  Mark mark = Mark::kNone;
  int level = 1;
  int times = 1;     // how often it stands here: repeated spaces
  bool ends = true;  // with its element; false: it says what surrounds it
};
constexpr std::size_t kDeepestElement = 1'000;
using Meanings = std::function<Meaning(const QXmlStreamReader& xml)>;

// words: the elements whose characters count; empty: all.
void readMarks(const std::string& path, const std::pair<std::string, QByteArray>& part, const QStringList& words, const Meanings& meanings,
               MarkedText& into) {
  QXmlStreamReader xml(part.second);
  std::vector<Mark> open;
  bool counts = words.isEmpty();
  while (!xml.atEnd() && !into.isFull()) {
    switch (xml.readNext()) {
      case QXmlStreamReader::StartElement: {
        const Meaning meaning = meanings(xml);
        if (meaning.mark == Mark::kSkip) {
          xml.skipCurrentElement();
          break;
        }
        if (open.size() == kDeepestElement) refuseXml(path, part.first, QStringLiteral("it is nested too deeply"));
        open.push_back(meaning.ends ? meaning.mark : Mark::kNone);
        for (int i = 0; i < meaning.times; ++i) into.begin(meaning.mark, meaning.level);
        counts = words.isEmpty() || words.contains(xml.name());
        break;
      }
      case QXmlStreamReader::EndElement:
        into.end(open.back());
        open.pop_back();
        counts = words.isEmpty();
        break;
      case QXmlStreamReader::Characters:
        if (counts) into.addWords(xml.text());
        break;
      default: break;
    }
  }
  if (xml.hasError()) refuseXml(path, part.first, xml.errorString());
}

template <class Rows>
Mark markNamed(QStringView name, const Rows& rows) {
  for (const auto& [known, mark] : rows) {
    if (name == QLatin1String(known)) return mark;
  }
  return Mark::kNone;
}

constexpr std::pair<const char*, Mark> kWordMarks[] = {{"p", Mark::kBlock},   {"tr", Mark::kRow},        {"tc", Mark::kCell},
                                                       {"tab", Mark::kSpace}, {"br", Mark::kBreak},      {"cr", Mark::kBreak},
                                                       {"del", Mark::kSkip},  {"Fallback", Mark::kSkip}, {"pict", Mark::kNone},
                                                       {"tabs", Mark::kSkip}, {"moveFrom", Mark::kSkip}};

// Styles of headings have a name that is the same in every language; their ids are translated.
QHash<QString, int> headingStyles(Archive& archive) {
  QHash<QString, int> levels;
  QXmlStreamReader xml(archive.part("word/styles.xml"));
  QString style;
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    const auto value = [&](const char* name) {
      for (const QXmlStreamAttribute& attribute : xml.attributes()) {
        if (attribute.name() == QLatin1String(name)) return attribute.value().toString();
      }
      return QString();
    };
    if (xml.name() == u"style") style = value("styleId");
    const QString name = xml.name() == u"name" ? value("val").toLower() : QString();
    if (name.startsWith(u"heading ")) levels[style] = name.mid(8).toInt();
    if (name == u"title") levels[style] = 1;
  }
  return levels;
}

constexpr std::pair<const char*, Mark> kOpenMarks[] = {{"p", Mark::kBlock},
                                                       {"list-item", Mark::kItem},
                                                       {"table-row", Mark::kRow},
                                                       {"table-cell", Mark::kCell},
                                                       {"covered-table-cell", Mark::kCell},
                                                       {"line-break", Mark::kBreak},
                                                       {"tab", Mark::kSpace},
                                                       {"s", Mark::kSpace},
                                                       {"tracked-changes", Mark::kSkip},
                                                       {"annotation", Mark::kSkip},
                                                       {"scripts", Mark::kSkip},
                                                       {"automatic-styles", Mark::kSkip},
                                                       {"font-face-decls", Mark::kSkip}};
constexpr int kMostEmptyCells = 64;

}  // namespace

void refuseXml(const std::string& path, const std::string& part, const QString& why) {
  throw Exception(ErrorCode::kDamagedFile, path, "the document is damaged: " + part + " (" + why.toStdString() + ")");
}

void readWordDocument(Archive& archive, MarkedText& into) {
  const QHash<QString, int> headings = headingStyles(archive);
  const auto meanings = [&](const QXmlStreamReader& xml) -> Meaning {
    if (xml.name() == u"pStyle") {
      for (const QXmlStreamAttribute& attribute : xml.attributes()) {
        if (const auto level = headings.constFind(attribute.value().toString()); level != headings.cend())
          return {Mark::kHeading, *level, 1, false};
      }
    }
    if (xml.name() == u"numPr") return {Mark::kItem, 1, 1, false};
    return {markNamed(xml.name(), kWordMarks)};
  };
  for (const char* part : {"word/document.xml", "word/footnotes.xml", "word/endnotes.xml"}) {
    const QByteArray bytes = archive.part(part);
    if (!bytes.isEmpty()) readMarks(archive.path(), {part, bytes}, {QStringLiteral("t")}, meanings, into);
  }
}

void readOpenDocument(Archive& archive, MarkedText& into) {
  const auto meanings = [&](const QXmlStreamReader& xml) -> Meaning {
    const auto number = [&](const char* name, int most) {
      for (const QXmlStreamAttribute& attribute : xml.attributes()) {
        if (attribute.name() == QLatin1String(name)) return std::clamp(attribute.value().toInt(), 1, most);
      }
      return 1;
    };
    if (xml.name() == u"h") return {Mark::kHeading, number("outline-level", 9)};
    if (xml.name() == u"s") return {Mark::kSpace, 1, number("c", kMostEmptyCells)};
    return {markNamed(xml.name(), kOpenMarks)};
  };
  readMarks(archive.path(), {"content.xml", archive.part("content.xml")}, {}, meanings, into);
}

}  // namespace winnow::app
