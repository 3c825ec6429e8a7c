// How media are read before anything is asked about them: once and compressed, clip by clip within a number of slots, or whole, for every
// question to fetch from.
//
// One file each; media_reading() picks by the recipe. A turn that prepares its own media goes the same way as one about media that were
// prepared before (prepared_turn.h), and a plan asks the same object what it would take. Errors: Exception, Interrupted. Engine thread
// only.
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

// The media of a turn and what stands before them, still to be read.
struct UnreadMedia {
  const Turn& turn;
  BegunTurn& begun;                 // is used up
  const SegmentTokens& judged;      // all of its segment
  SegmentCompression& compression;  // of the recipe over it, for who compresses it in one event
};

class MediaReading {
 public:
  explicit MediaReading(const Recipe& recipe) : recipe_(recipe) {}
  virtual ~MediaReading() = default;
  MediaReading(const MediaReading&) = delete;
  MediaReading& operator=(const MediaReading&) = delete;

  // Emits Progress. A trace gets its rows so far.
  virtual PreparedContext prepare(const RequestContext& context, const UnreadMedia& media) const = 0;
  // Reads a question behind the media in `working`, a fork of what is prepared. Emits Progress.
  virtual ReadyTurn read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question,
                                  Conversation working) const;

  // What both take from before the media on; slots: of the event, and after it the question.
  virtual ForeseenCache foresee(const Conversation& before, const SegmentTokens& judged, const LayerSlots& slots) const;
  // What a question takes whose media are prepared.
  virtual ForeseenCache foresee_question(const Conversation& prepared, const SegmentTokens& judged, const LayerSlots& slots) const;

 protected:
  // What is known of the media before they are read; takes what the segment has of it.
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

// recipe must outlive it. Null: it has no event between media and question.
std::unique_ptr<const MediaReading> media_reading(const Recipe& recipe);

}  // namespace winnow
