#include "app/evaluation/scene_facts.h"

#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <map>

namespace winnow::app {
namespace {

const QStringList kColors = {QStringLiteral("red"),    QStringLiteral("green"),  QStringLiteral("blue"),  QStringLiteral("yellow"),
                             QStringLiteral("purple"), QStringLiteral("orange"), QStringLiteral("white"), QStringLiteral("pink")};
const QStringList kShapes = {QStringLiteral("circle"), QStringLiteral("square"), QStringLiteral("triangle"),
                             QStringLiteral("star"),   QStringLiteral("cross"),  QStringLiteral("diamond")};
const QStringList kNumberWords = {QStringLiteral("zero"),  QStringLiteral("one"),  QStringLiteral("two"), QStringLiteral("three"),
                                  QStringLiteral("four"),  QStringLiteral("five"), QStringLiteral("six"), QStringLiteral("seven"),
                                  QStringLiteral("eight"), QStringLiteral("nine"), QStringLiteral("ten")};
const QStringList kDenials = {QStringLiteral("no"), QStringLiteral("not"), QStringLiteral("none"), QStringLiteral("nothing"),
                              QStringLiteral("never")};

using Facts = std::map<QString, int>;  // fact word -> how often

// Lower case, only letters a to z and digits, one blank between words.
QString plain(const std::string& text) {
  QString kept;
  const QString lower = QString::fromStdString(text).toLower().replace(QStringLiteral("colour"), QStringLiteral("color"));
  for (const QChar c : lower) {
    const char16_t u = c.unicode();
    kept += (u >= u'a' && u <= u'z') || (u >= u'0' && u <= u'9') ? c : QLatin1Char(' ');
  }
  return kept.simplified();
}

// The shape that a word names, in the singular or plural; empty for other words.
QString shapeOf(const QString& word) {
  for (const QString& shape : kShapes) {
    if (word == shape || word == shape + QLatin1Char('s') || word == shape + QStringLiteral("es")) return shape;
  }
  return {};
}

bool isNumber(const QString& word) {
  return !word.isEmpty() && std::all_of(word.begin(), word.end(), [](QChar c) { return c.isDigit(); });
}

QString withoutLeadingZeros(QString digits) {
  while (digits.size() > 1 && digits.front() == QLatin1Char('0')) digits.remove(0, 1);
  return digits;
}

Facts factsOf(const std::string& text) {
  static const QRegularExpression letter(
      QStringLiteral("\\b(?:with|letter is|letter|says|say|shows)\\s+(?:an?\\s+|the\\s+)?(?:letter\\s+)?([a-z])(?![a-z])"));
  const QString words = plain(text);
  Facts found;
  QRegularExpressionMatchIterator letters = letter.globalMatch(words);
  while (letters.hasNext()) ++found[QStringLiteral("letter ") + letters.next().captured(1)];
  for (const QString& word : words.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    if (kColors.contains(word)) {
      ++found[word];
    } else if (const QString shape = shapeOf(word); !shape.isEmpty()) {
      ++found[shape];
    } else if (isNumber(word)) {
      ++found[withoutLeadingZeros(word)];
    } else if (kNumberWords.contains(word)) {
      ++found[QString::number(kNumberWords.indexOf(word))];
    }
  }
  return found;
}

bool denies(const std::string& text) {
  const QStringList words = plain(text).split(QLatin1Char(' '));
  return std::any_of(kDenials.begin(), kDenials.end(), [&](const QString& word) { return words.contains(word); });
}

// Things in the order they are named.
QStringList sequenceOf(const std::string& text) {
  static const QRegularExpression item(QStringLiteral("(%1)\\s+(%2)\\b|card\\s+with\\s+(?:an?\\s+|the\\s+)?(?:letter\\s+)?([a-z])(?![a-z])")
                                           .arg(kColors.join(QLatin1Char('|')), kShapes.join(QLatin1Char('|'))));
  QStringList things;
  QRegularExpressionMatchIterator items = item.globalMatch(plain(text));
  while (items.hasNext()) {
    const QRegularExpressionMatch match = items.next();
    things += match.captured(3).isEmpty() ? match.captured(1) + QLatin1Char(' ') + match.captured(2)
                                          : QStringLiteral("card ") + match.captured(3);
  }
  return things;
}

QStringList numbersIn(const Facts& facts) {
  QStringList numbers;
  for (const auto& [word, times] : facts) {
    if (isNumber(word)) numbers += word;
  }
  return numbers;
}

// Every wanted fact is there, and nothing but wanted and asked ones.
bool namesOnly(const Facts& given, const Facts& required, const Facts& wanted, const Facts& asked) {
  const bool complete = std::all_of(required.begin(), required.end(), [&](const auto& fact) { return given.contains(fact.first); });
  return complete && std::all_of(given.begin(), given.end(),
                                 [&](const auto& fact) { return wanted.contains(fact.first) || asked.contains(fact.first); });
}

}  // namespace

bool factsAreRight(const std::string& kind, const std::string& question, const std::string& truth, const std::string& answer) {
  Facts wanted = factsOf(truth);
  Facts given = factsOf(answer);
  if (kind == "list" || kind == "describe") {
    const bool stray = std::any_of(given.begin(), given.end(), [&](const auto& fact) {
      const auto known = wanted.find(fact.first);
      return known == wanted.end() || fact.second > known->second;
    });
    return !stray && sequenceOf(answer) == sequenceOf(truth) && numbersIn(given) == numbersIn(wanted);
  }
  if (kind == "count") {
    if (denies(answer)) ++given[QStringLiteral("0")];
    if (denies(truth)) ++wanted[QStringLiteral("0")];
  } else if (denies(answer) != denies(truth)) {
    return false;
  }
  const Facts asked = factsOf(question);
  if (kind == "after" || kind == "before" || kind == "first" || kind == "last") return namesOnly(given, wanted, wanted, asked);
  Facts required;
  for (const auto& fact : wanted) {
    if (!asked.contains(fact.first)) required.insert(fact);
  }
  return namesOnly(given, required, wanted, asked);
}

bool timeIsRight(const std::string& truth, const std::string& answer, double toleranceS) {
  if (denies(answer) != denies(truth)) return false;
  const Facts wanted = factsOf(truth);
  const Facts given = factsOf(answer);
  if (denies(truth)) return namesOnly(given, {}, wanted, {});
  const QStringList told = numbersIn(given);
  const QStringList known = numbersIn(wanted);
  if (told.size() != 1 || known.isEmpty()) return false;
  return std::abs(told.front().toDouble() - known.front().toDouble()) <= std::max(1.0, toleranceS);
}

}  // namespace winnow::app
