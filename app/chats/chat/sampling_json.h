// The chosen sampling settings as JSON: {"temperature": 0.7, "top_k": 20}; what is absent was not chosen.
//
// Stored with chats, answers and settings. Reading is lenient: unknown members are ignored, and what is no number of its range counts as
// not chosen. Threads: any.
#pragma once

#include <QByteArray>

#include "engine/sampling/sampling.h"

namespace winnow::app {

QByteArray samplingToJson(const SamplingChoice& choice);  // empty: nothing was chosen
SamplingChoice samplingFromJson(const QByteArray& json);

}  // namespace winnow::app
