// An answer's run as JSON: its figures, its agreement with the full cache, the recipes that made its cache, its sampling; and the sampled
// times of an attachment.
//
// Used by ChatDatabase and by exports. Of TurnFigures all except method, retention, seed and the layers, which have columns of their own,
// with the timeline, why the answer ended, who began it and its guard (left out: keep). Unknown members are ignored and missing ones stay
// at their defaults, so that figures of older and newer versions can be read; text that is no JSON leaves everything at its default.
// Threads: any.
#pragma once

#include <QByteArray>
#include <QList>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/messages/events.h"
#include "engine/sampling/sampling.h"

namespace winnow::app {

// The timeline is a member of its own in the same object, left out if it is empty.
QByteArray figuresToJson(const Run& run);
void figuresFromJson(const QByteArray& json, Run& run);
TurnTimeline timelineFromJson(const QByteArray& json);

QByteArray keptPerHeadToJson(const std::vector<std::int64_t>& kept);
std::vector<std::int64_t> keptPerHeadFromJson(const QByteArray& json);

// [["entropy", 0.41], ..] and [visual, text, generated, image].
QByteArray reasonsToJson(const std::vector<std::pair<std::string, double>>& reasons);
std::vector<std::pair<std::string, double>> reasonsFromJson(const QByteArray& json);
QByteArray slotCountsToJson(const SlotCounts& counts);
SlotCounts slotCountsFromJson(const QByteArray& json);

QByteArray sampledToJson(const SampledTimes& times);
SampledTimes sampledFromJson(const QByteArray& json);
// [[from, to], ..]
QByteArray pinsToJson(const PinnedRanges& pins);
PinnedRanges pinsFromJson(const QByteArray& json);

// The recipes that made the cache of an answer as JSON: [{"recipe": {..}, "attached": true}, ..]; empty: not known.
//
// Entries that cannot be read (a newer program's) leave all of them unknown.
nlohmann::json makersToJson(const QList<RunMaker>& makers);
QList<RunMaker> makersFromJson(const nlohmann::json& json);
// The makers as a column of the database holds them.
QByteArray makersToText(const QList<RunMaker>& makers);
QList<RunMaker> makersFromText(const QByteArray& text);

// The chosen sampling settings as JSON: {"temperature": 0.7, "top_k": 20}; what is absent was not chosen.
//
// Stored with chats, answers and settings. Reading is lenient: unknown members are ignored, and what is no number of its range counts as
// not chosen.
QByteArray samplingToJson(const SamplingChoice& choice);  // empty: nothing was chosen
SamplingChoice samplingFromJson(const QByteArray& json);

// Agreement of an answer with the full cache, and a whole Run, as JSON.
//
// Unknown members are ignored and missing ones stay at their defaults; text that is no JSON gives nothing.

// Empty for nothing.
QByteArray agreementToJson(const std::optional<Agreement>& agreement);
std::optional<Agreement> agreementFromJson(const QByteArray& json);

// Model, recipe, figures with their layers, agreement.
QByteArray runToJson(const Run& run);
Run runFromJson(const QByteArray& json);

}  // namespace winnow::app
