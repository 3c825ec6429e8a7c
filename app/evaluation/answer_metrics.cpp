#include "app/evaluation/answer_metrics.h"

#include <QRegularExpression>
#include <QString>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "app/evaluation/scene_facts.h"

namespace winnow::app {
namespace {

bool isPunctuation(QChar c) {
  return c.isPunct() || (c.unicode() < 128 && c.isSymbol());  // what English question answering removes includes $+<=>^`|~
}

QStringList words(const std::string& text) {
  QString plain;
  for (const QChar c : QString::fromStdString(text).toLower()) {
    if (!isPunctuation(c)) plain += c;
  }
  return plain.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

template <typename Score>
double best(const std::vector<std::string>& golds, const Score& score) {
  double highest = 0.0;
  for (const std::string& gold : golds) highest = std::max(highest, score(gold));
  return highest;
}

double isEqual(bool equal) { return equal ? 1.0 : 0.0; }

int editDistance(const QList<uint>& a, const QList<uint>& b) {
  std::vector<int> row(static_cast<std::size_t>(b.size()) + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<int>(j);
  for (qsizetype i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const int replaced = diagonal + (a[i] == b[static_cast<qsizetype>(j) - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

double similarity(const std::string& answer, const std::string& gold) {
  const QList<uint> a = QString::fromStdString(answer).toLower().trimmed().toUcs4();
  const QList<uint> b = QString::fromStdString(gold).toLower().trimmed().toUcs4();
  const qsizetype longest = std::max(a.size(), b.size());
  if (longest == 0) return 1.0;
  const double distance = static_cast<double>(editDistance(a, b)) / static_cast<double>(longest);
  return distance < 0.5 ? 1.0 - distance : 0.0;
}

double commonSubsequenceF1(const QStringList& answer, const QStringList& gold) {
  std::vector<int> row(static_cast<std::size_t>(gold.size()) + 1, 0);
  for (const QString& word : answer) {
    int diagonal = 0;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const int above = row[j];
      row[j] = word == gold[static_cast<qsizetype>(j) - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  if (row.back() == 0) return 0.0;
  const double precision = static_cast<double>(row.back()) / static_cast<double>(answer.size());
  const double recall = static_cast<double>(row.back()) / static_cast<double>(gold.size());
  return 2.0 * precision * recall / (precision + recall);
}

// The option letter that an answer names, upper case; null when it names none.
QChar namedOption(const QString& answer) {
  const QString trimmed = answer.trimmed();
  static const QRegularExpression whole(QStringLiteral("^[(\\[]?([A-Za-z])[)\\].:,]?$"));
  static const QRegularExpression marked(QStringLiteral("\\(([A-Za-z])\\)|(?<![A-Za-z0-9])([A-Za-z])(?:\\)|:|\\.(?![A-Za-z]))"));
  static const QRegularExpression told(QStringLiteral("(?:answer is|answer:|option)\\s*:?\\s*\\(?([A-Za-z])(?![A-Za-z])"),
                                       QRegularExpression::CaseInsensitiveOption);
  static const QRegularExpression alone(QStringLiteral("(?<![A-Za-z0-9'])([B-HJ-Z])(?![A-Za-z0-9'])"));
  for (const QRegularExpression* rule : {&whole, &told, &marked}) {
    const QRegularExpressionMatch match = rule->match(trimmed);
    if (match.hasMatch()) return match.captured(match.lastCapturedIndex()).front().toUpper();
  }
  QChar only;
  QRegularExpressionMatchIterator letters = alone.globalMatch(trimmed);
  while (letters.hasNext()) {
    const QChar letter = letters.next().captured(1).front();
    if (!only.isNull() && only != letter) return {};
    only = letter;
  }
  return only;
}

QString firstYesOrNo(const std::string& answer) {
  for (const QString& word : words(answer)) {
    if (word == QLatin1String("yes") || word == QLatin1String("no")) return word;
  }
  return {};
}

bool asNumber(const QString& text, double& value) {
  QString plain = text;
  plain.remove(QLatin1Char(','));
  const bool percent = plain.endsWith(QLatin1Char('%'));
  if (percent) plain.chop(1);
  bool ok = false;
  value = plain.toDouble(&ok);
  if (percent) value /= 100.0;
  return ok && std::isfinite(value);
}

}  // namespace

std::string normalisedAnswer(const std::string& text) {
  QStringList kept = words(text);
  kept.removeIf(
      [](const QString& word) { return word == QLatin1String("a") || word == QLatin1String("an") || word == QLatin1String("the"); });
  return kept.join(QLatin1Char(' ')).toStdString();
}

double exactMatch(const std::string& answer, const std::vector<std::string>& golds) {
  const std::string given = normalisedAnswer(answer);
  return best(golds, [&](const std::string& gold) { return isEqual(given == normalisedAnswer(gold)); });
}

double choiceAccuracy(const std::string& answer, const std::vector<std::string>& golds) {
  return best(golds, [&](const std::string& gold) {
    const QString wanted = QString::fromStdString(gold).trimmed();
    if (wanted.size() == 1 && wanted.front().isLetter())
      return isEqual(namedOption(QString::fromStdString(answer)) == wanted.front().toUpper());
    const QString lower = wanted.toLower();
    if (lower == QLatin1String("yes") || lower == QLatin1String("no")) return isEqual(firstYesOrNo(answer) == lower);
    return exactMatch(answer, {gold});
  });
}

double anls(const std::string& answer, const std::vector<std::string>& golds) {
  return best(golds, [&](const std::string& gold) { return similarity(answer, gold); });
}

double rougeL(const std::string& answer, const std::vector<std::string>& golds) {
  const QStringList given = words(answer);
  return best(golds, [&](const std::string& gold) { return commonSubsequenceF1(given, words(gold)); });
}

double containsGold(const std::string& answer, const std::vector<std::string>& golds) {
  const auto padded = [](const std::string& words) { return std::string(1, ' ').append(words).append(1, ' '); };
  const std::string given = padded(normalisedAnswer(answer));
  return best(golds, [&](const std::string& gold) {
    const std::string wanted = normalisedAnswer(gold);
    return isEqual(wanted.empty() ? given == "  " : given.find(padded(wanted)) != std::string::npos);
  });
}

double relaxedMatch(const std::string& answer, const std::vector<std::string>& golds) {
  const QString given = QString::fromStdString(answer).trimmed().toLower();
  return best(golds, [&](const std::string& gold) {
    const QString wanted = QString::fromStdString(gold).trimmed().toLower();
    double told = 0.0;
    double truth = 0.0;
    if (asNumber(given, told) && asNumber(wanted, truth)) {
      return isEqual(truth == 0.0 ? told == 0.0 : std::abs(told - truth) <= 0.05 * std::abs(truth));
    }
    return isEqual(given == wanted);
  });
}

double vqaAccuracy(const std::string& answer, const std::vector<std::string>& golds) {
  if (golds.size() < 2) return exactMatch(answer, golds);
  const std::string given = normalisedAnswer(answer);
  std::vector<bool> same;
  for (const std::string& gold : golds) same.push_back(normalisedAnswer(gold) == given);
  const auto all = std::count(same.begin(), same.end(), true);
  double sum = 0.0;
  for (const bool own : same) sum += std::min(1.0, static_cast<double>(all - (own ? 1 : 0)) / 3.0);
  return sum / static_cast<double>(golds.size());
}

double scoreOf(const EvaluationItem& item, const std::string& answer) {
  switch (item.metric) {
    case AnswerMetric::kExact:
      return exactMatch(answer, item.golds);
    case AnswerMetric::kAccuracy:
      return choiceAccuracy(answer, item.golds);
    case AnswerMetric::kAnls:
      return anls(answer, item.golds);
    case AnswerMetric::kRougeL:
      return rougeL(answer, item.golds);
    case AnswerMetric::kContains:
      return containsGold(answer, item.golds);
    case AnswerMetric::kRelaxed:
      return relaxedMatch(answer, item.golds);
    case AnswerMetric::kVqa:
      return vqaAccuracy(answer, item.golds);
    case AnswerMetric::kFacts:
      return best(item.golds, [&](const std::string& gold) { return isEqual(factsAreRight(item.group, item.question, gold, answer)); });
    case AnswerMetric::kTime:
      return best(item.golds, [&](const std::string& gold) { return isEqual(timeIsRight(gold, answer, item.toleranceS)); });
    case AnswerMetric::kPerplexity:
      break;
  }
  return 0.0;
}

}  // namespace winnow::app
