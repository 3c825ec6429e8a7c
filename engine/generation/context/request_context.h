// What a request runs with, handed from stage to stage.
//
// Made by engine/api for each request; copied freely. The model, the opener and the trace outlive it. Engine thread only.
#pragma once

#include "engine/base/interrupt.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/context/turn_trace.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"

namespace winnow {

struct RequestContext {
  LoadedModel& model;
  MediaOpener* opener = nullptr;  // null: this build reads text only
  EmitEvent emit;
  InterruptToken interrupt;
  TurnTrace* trace = nullptr;  // to be filled for an export

  const VisionLanguageModel& network() const { return *model.network; }
  // The same, speaking under a column's number.
  RequestContext for_column(std::int32_t column) const { return {model, opener, emit.for_column(column), interrupt, trace}; }
};

}  // namespace winnow
