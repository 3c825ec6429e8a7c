// How media are prefilled before the question: as a whole and compressed, clip by clip within a number of slots, or uncompressed, for every
// question to retrieve from.
//
// One file each; media_reading() selects by the recipe. A turn with new media uses the same path as one about prepared media
// (prepared_turn.h), and a plan asks the same object for its costs. Errors: Exception, Interrupted. Engine thread only.
#pragma once

#include <memory>

#include "engine/generation/context/request_context.h"
#include "engine/generation/prefill/foreseen_cache.h"
#include "engine/generation/prefill/ready_turn.h"
#include "engine/generation/prefill/segment_prefill.h"
#include "engine/generation/reading/prepared_context.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/recipes/recipe.h"

namespace winnow {

// The media of a turn, and the text before them, before their prefill.
struct UnreadMedia {
  const Turn& turn;
  BegunTurn& begun;                 // consumed
  const SegmentTokens& judged;      // of its whole segment
  SegmentCompression& compression;  // of the recipe over the segment, for readings with one event
};

class MediaReading {
 public:
  explicit MediaReading(const Recipe& recipe) : recipe_(recipe) {}
  virtual ~MediaReading() = default;
  MediaReading(const MediaReading&) = delete;
  MediaReading& operator=(const MediaReading&) = delete;

  // Emits Progress. Fills a trace's rows so far.
  virtual PreparedContext prepare(const RequestContext& context, const UnreadMedia& media) const = 0;
  // Prefills a question after the media in `working`, a fork of the prepared state. Emits Progress.
  virtual ReadyTurn read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question,
                                  Conversation working) const;

  // The slots and blocks of both; slots: of the event, and of the question after it.
  virtual ForeseenCache foresee(const Conversation& before, const SegmentTokens& judged, const LayerSlots& slots) const;
  // Those of a question about prepared media.
  virtual ForeseenCache foresee_question(const Conversation& prepared, const SegmentTokens& judged, const LayerSlots& slots) const;

 protected:
  // The facts known before the media's prefill; moves them from the segment.
  static PreparedMedia prepared_media(const UnreadMedia& media);

  struct QuestionRead {
    TurnSegment& question;
    Conversation working;
    SegmentPrefill prefill;
    EventOutcome outcome;
  };
  static ReadyTurn ready_turn(const RequestContext& context, const PreparedContext& prepared, QuestionRead read);

  const Recipe& recipe_;
};

// recipe must outlive it. Returns null if the recipe has no event between media and question.
std::unique_ptr<const MediaReading> media_reading(const Recipe& recipe);

}  // namespace winnow
