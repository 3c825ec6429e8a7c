#include "app/media/papers/table_text.h"

#include <QDateTime>
#include <QHash>
#include <QSet>
#include <QStringList>
#include <QXmlStreamReader>
#include <algorithm>
#include <cmath>

#include "app/media/papers/office_text.h"

namespace winnow::app {
namespace {

constexpr int kMostGap = 64;  // empty cells in a row that are written

// Calls `take` at the start of each element.
template <class Take>
void eachElement(Archive& archive, const std::string& part, const Take& take) {
  QXmlStreamReader xml(archive.part(part));
  while (!xml.atEnd()) {
    if (xml.readNext() == QXmlStreamReader::StartElement) take(xml);
  }
  if (xml.hasError() && archive.has(part)) refuseXml(archive.path(), part, xml.errorString());
}

QString attribute(const QXmlStreamReader& xml, const char* name) {
  for (const QXmlStreamAttribute& each : xml.attributes()) {
    if (each.qualifiedName() == QLatin1String(name)) return each.value().toString();
  }
  return {};
}

struct Sheet {
  QString name;
  std::string part;
};

std::vector<Sheet> sheetsOf(Archive& archive) {
  QHash<QString, QString> targets;
  eachElement(archive, "xl/_rels/workbook.xml.rels",
              [&](QXmlStreamReader& xml) { targets[attribute(xml, "Id")] = attribute(xml, "Target"); });
  std::vector<Sheet> sheets;
  eachElement(archive, "xl/workbook.xml", [&](QXmlStreamReader& xml) {
    if (xml.name() != u"sheet") return;
    const QString target = targets.value(attribute(xml, "r:id"));
    const std::string part = target.startsWith(u'/') ? target.mid(1).toStdString() : "xl/" + target.toStdString();
    sheets.push_back({attribute(xml, "name"), part});
  });
  return sheets;
}

// Words of an <si> or <is>, without how they are pronounced.
QString wordsIn(QXmlStreamReader& xml) {
  QString words;
  const QString outer = xml.name().toString();
  while (!xml.atEnd()) {
    const auto token = xml.readNext();
    if (token == QXmlStreamReader::EndElement && xml.name() == outer) break;
    if (token != QXmlStreamReader::StartElement) continue;
    if (xml.name() == u"rPh") {
      xml.skipCurrentElement();
    } else if (xml.name() == u"t") {
      words += xml.readElementText(QXmlStreamReader::IncludeChildElements);
    }
  }
  return words;
}

QStringList sharedStrings(Archive& archive) {
  QStringList strings;
  eachElement(archive, "xl/sharedStrings.xml", [&](QXmlStreamReader& xml) {
    if (xml.name() == u"si") strings << wordsIn(xml);
  });
  return strings;
}

// Excel's own formats of dates, and those whose letters outside quotes and brackets are a date's.
bool isDate(int id, const QHash<int, QString>& formats) {
  if ((id >= 14 && id <= 22) || (id >= 45 && id <= 47)) return true;
  bool quoted = false, bracketed = false;
  for (const QChar c : formats.value(id).toLower()) {
    quoted = c == u'"' ? !quoted : quoted;
    bracketed = c == u'[' || (bracketed && c != u']');
    if (!quoted && !bracketed && (c == u'y' || c == u'd' || c == u'h')) return true;
  }
  return false;
}

// Numbers of the cell formats that show dates.
QSet<int> dateStyles(Archive& archive) {
  QHash<int, QString> formats;
  QSet<int> dates;
  bool cells = false;
  int style = 0;
  eachElement(archive, "xl/styles.xml", [&](QXmlStreamReader& xml) {
    if (xml.name() == u"numFmt") formats[attribute(xml, "numFmtId").toInt()] = attribute(xml, "formatCode");
    if (xml.name() == u"cellXfs" || xml.name() == u"cellStyles") cells = xml.name() == u"cellXfs";
    if (xml.name() == u"xf" && cells && isDate(attribute(xml, "numFmtId").toInt(), formats)) dates.insert(style);
    if (xml.name() == u"xf" && cells) ++style;
  });
  return dates;
}

// Days since the end of 1899, as Excel counts them.
QString dateText(const QString& number) {
  bool valid = false;
  const double days = number.toDouble(&valid);
  if (!valid || days < 1.0 || days > 3e6) return number;
  const QDateTime day = QDateTime(QDate(1899, 12, 30), QTime(0, 0), Qt::UTC).addMSecs(std::llround(days * 86'400'000.0));
  return day.toString(days == std::floor(days) ? QStringLiteral("yyyy-MM-dd") : QStringLiteral("yyyy-MM-dd HH:mm"));
}

// "BC7" -> 54; -1: none is told.
int columnOf(const QString& cell) {
  int column = 0;
  for (const QChar c : cell) {
    if (c < u'A' || c > u'Z' || column > 20'000) break;
    column = column * 26 + (c.unicode() - u'A' + 1);
  }
  return column - 1;
}

class SheetReader {
 public:
  SheetReader(const QStringList& strings, const QSet<int>& dates, MarkedText& into) : m_strings(strings), m_dates(dates), m_into(into) {}

  // Rows read; one more than kMostRows: there are more.
  int read(Archive& archive, const std::string& part) {
    QXmlStreamReader xml(archive.part(part));
    int rows = 0;
    while (!xml.atEnd() && !m_into.isFull() && rows <= kMostRows) {
      const auto token = xml.readNext();
      if (token == QXmlStreamReader::StartElement && xml.name() == u"row" && ++rows <= kMostRows) m_into.begin(Mark::kRow), m_next = 0;
      if (token == QXmlStreamReader::EndElement && xml.name() == u"row" && rows <= kMostRows) m_into.end(Mark::kRow);
      if (token == QXmlStreamReader::StartElement && xml.name() == u"c" && rows <= kMostRows) readCell(xml);
    }
    if (xml.hasError()) refuseXml(archive.path(), part, xml.errorString());
    return rows;
  }

 private:
  void readCell(QXmlStreamReader& xml) {
    const int column = std::max(columnOf(attribute(xml, "r")), m_next);
    const QString type = attribute(xml, "t");
    const bool date = type.isEmpty() && m_dates.contains(attribute(xml, "s").toInt());
    QString words;
    while (!xml.atEnd()) {
      const auto token = xml.readNext();
      if (token == QXmlStreamReader::EndElement && xml.name() == u"c") break;
      if (token != QXmlStreamReader::StartElement) continue;
      if (xml.name() == u"v") words = xml.readElementText(QXmlStreamReader::IncludeChildElements);
      if (xml.name() == u"is") words = wordsIn(xml);
    }
    if (type == u"s") words = m_strings.value(words.toInt());
    if (type == u"b") words = words == u"1" ? QStringLiteral("TRUE") : QStringLiteral("FALSE");
    if (date) words = dateText(words);
    if (words.isEmpty()) return;
    for (int gap = std::min(column - m_next, kMostGap); gap > 0; --gap) m_into.begin(Mark::kCell);
    m_into.begin(Mark::kCell);
    m_into.addWords(words);
    m_into.end(Mark::kCell);
    m_next = column + 1;
  }

  const QStringList& m_strings;
  const QSet<int>& m_dates;
  MarkedText& m_into;
  int m_next = 0;  // column
};

}  // namespace

void readSheets(Archive& archive, MarkedText& into, std::vector<MediaNotice>& notices) {
  const std::vector<Sheet> sheets = sheetsOf(archive);
  const QStringList strings = sharedStrings(archive);
  const QSet<int> dates = dateStyles(archive);
  for (std::size_t i = 0; i < sheets.size() && i < kMostSheets && !into.isFull(); ++i) {
    into.begin(Mark::kHeading);
    into.addWords(sheets[i].name);
    into.end(Mark::kHeading);
    if (SheetReader(strings, dates, into).read(archive, sheets[i].part) > kMostRows)
      add_notice(notices, {NoticeCode::kPartUnread, kMostRows, 0, "rows"});
  }
  if (sheets.size() > kMostSheets) notices.push_back({NoticeCode::kPartUnread, kMostSheets, std::ssize(sheets), "sheets"});
}

}  // namespace winnow::app
