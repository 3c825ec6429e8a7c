// The chosen sampling settings in words: "temperature 0.7", "at most 512 tokens". UI thread only (translations).
#pragma once

#include <QStringList>

#include "engine/sampling/sampling.h"

namespace winnow::ui {

QStringList samplingWords(const SamplingChoice& choice);
// 0.7, not 0.700.
QString plainNumber(double value);

}  // namespace winnow::ui
