// Figures of an answer as JSON: all of TurnFigures except method, retention, seed and the layers, which have columns of their own, with the
// timeline, why the answer ended, who began it, its guard (left out: keep) and its sampling; and the sampled times of an attachment.
//
// Used by ChatDatabase and by exports. Unknown members are ignored and missing ones stay at their defaults, so that figures of older and
// newer versions can be read; text that is no JSON leaves everything at its default. Threads: any.
#pragma once

#include <QByteArray>
#include <string>
#include <utility>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "engine/messages/events.h"

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

}  // namespace winnow::app
