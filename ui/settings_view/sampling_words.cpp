#include "ui/settings_view/sampling_words.h"

#include <QCoreApplication>

namespace winnow::ui {
namespace {

class SamplingWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::SamplingWords)
};

}  // namespace

QString plainNumber(double value) { return QString::number(value, 'g', 6); }

QStringList samplingWords(const SamplingChoice& choice) {
  QStringList words;
  if (choice.temperature == 0.0) {
    words << SamplingWords::tr("always the most likely token");
  } else if (choice.temperature) {
    words << SamplingWords::tr("temperature %1").arg(plainNumber(*choice.temperature));
  }
  if (choice.top_k) words << (*choice.top_k == 0 ? SamplingWords::tr("no top-k") : SamplingWords::tr("top-k %1").arg(*choice.top_k));
  if (choice.top_p) words << SamplingWords::tr("top-p %1").arg(plainNumber(*choice.top_p));
  if (choice.min_p) words << SamplingWords::tr("min-p %1").arg(plainNumber(*choice.min_p));
  if (choice.repetition_penalty) words << SamplingWords::tr("repetition penalty %1").arg(plainNumber(*choice.repetition_penalty));
  if (choice.seed) words << SamplingWords::tr("seed %1").arg(*choice.seed);
  if (choice.max_new_tokens == Sampling::kToTheEnd) {
    words << SamplingWords::tr("answers to their end");
  } else if (choice.max_new_tokens) {
    words << SamplingWords::tr("at most %Ln token(s)", nullptr, *choice.max_new_tokens);
  }
  if (choice.thought_tokens == Sampling::kAsManyThoughtsAsTheModel) {
    words << SamplingWords::tr("thinking as the model's default");
  } else if (choice.thought_tokens == 0) {
    words << SamplingWords::tr("thinking off");
  } else if (choice.thought_tokens == Sampling::kMostNewTokens) {
    words << SamplingWords::tr("thinking on");
  } else if (choice.thought_tokens) {
    words << SamplingWords::tr("thinking for at most %Ln token(s)", nullptr, *choice.thought_tokens);
  }
  return words;
}

}  // namespace winnow::ui
