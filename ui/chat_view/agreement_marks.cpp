#include "ui/chat_view/agreement_marks.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/words/display_text.h"
#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

class AgreementWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::AgreementWords)
};

QString shown(const std::string& word) { return app::displayText(QString::fromStdString(word)); }

QString noteOf(const WordDifference& d) {
  const QString there = app::formatShare(d.full_choice_probability);
  if (d.text.empty())
    return AgreementWords::tr("The answer ends here. The full cache would have gone on with “%1” (%2).").arg(shown(d.full_text), there);
  const QString full = app::formatShare(d.full_probability);
  const QString both =
      d.probability
          ? AgreementWords::tr("“%1”: %2 in this cache, %3 in the full cache.").arg(shown(d.text), app::formatShare(*d.probability), full)
          : AgreementWords::tr("“%1”: %2 in the full cache.").arg(shown(d.text), full);
  const QString other = d.full_text.empty()
                            ? AgreementWords::tr("The full cache would have ended the answer here (%1).").arg(there)
                            : AgreementWords::tr("The full cache would have written “%1” (%2).").arg(shown(d.full_text), there);
  return both + QLatin1Char(' ') + other;
}

}  // namespace

std::vector<WordRange> wordsOf(const QString& text) {
  std::vector<WordRange> words;
  for (qsizetype i = 0; i < text.size();) {
    if (text[i].isSpace()) {
      ++i;
      continue;
    }
    const qsizetype from = i;
    while (i < text.size() && !text[i].isSpace()) ++i;
    words.push_back({from, i - from});
  }
  return words;
}

std::vector<TextMark> agreementMarks(const QString& text, const Agreement& agreement) {
  const std::vector<WordRange> words = wordsOf(text);
  std::vector<TextMark> marks;
  for (const WordDifference& difference : agreement.differences) {
    if (words.empty() || difference.word < 0) continue;
    // A difference after the last word is shown at the last word.
    const std::size_t at = std::min(static_cast<std::size_t>(difference.word), words.size() - 1);
    const QString note = noteOf(difference);
    if (!marks.empty() && marks.back().from == words[at].from) {
      marks.back().note += QLatin1Char('\n') + note;
      continue;
    }
    marks.push_back({words[at].from, words[at].length, marks.empty() ? TextMark::Kind::kFirst : TextMark::Kind::kDiffers, note});
  }
  return marks;
}

QString agreementShare(const Agreement& agreement) {
  // Rounded down: 100 is said only where it is true.
  const double percent = std::floor(agreement.top1 * 1000.0 + 1e-9) / 10.0;
  const bool whole = std::abs(percent - std::round(percent)) < 0.05;
  return app::formatFixed(percent, whole ? 0 : 1) + QChar(0x202f) + QLatin1Char('%');
}

QString agreementText(const Agreement& agreement, std::int64_t unread) {
  if (unread > 0 && agreement.top1 >= 1.0) return AgreementWords::tr("Same words as with all that was read");
  if (unread > 0) return AgreementWords::tr("%1 the same as with all that was read").arg(agreementShare(agreement));
  if (agreement.top1 >= 1.0) return AgreementWords::tr("Same words as without compression");
  return AgreementWords::tr("%1 the same as without compression").arg(agreementShare(agreement));
}

QString verdictText(const Agreement& agreement, std::size_t differing) {
  if (agreement.top1 >= 1.0) return AgreementWords::tr("Same words");
  if (differing == 0) return AgreementWords::tr("%1 the same").arg(agreementShare(agreement));
  if (differing == 1) return AgreementWords::tr("1 word differs");
  return AgreementWords::tr("%Ln words differ", nullptr, static_cast<int>(differing));
}

QString divergenceText(const Agreement& agreement) {
  if (!agreement.mean_kl) return AgreementWords::tr("The cache that wrote the answer is gone: its words alone were checked");
  const int digits = *agreement.mean_kl == 0.0 ? 0 : *agreement.mean_kl >= 0.1 ? 2 : 4;
  return AgreementWords::tr("KL divergence from the full cache: %1 nats per token").arg(app::formatFixed(*agreement.mean_kl, digits));
}

}  // namespace winnow::ui
