// The context of a request, passed from stage to stage.
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
  MediaOpener* opener = nullptr;  // null: a build without media
  EmitEvent emit;
  InterruptToken interrupt;
  TurnTrace* trace = nullptr;  // filled for an export; else null

  const VisionLanguageModel& network() const { return *model.network; }
  // The same, emitting for one column.
  RequestContext for_column(std::int32_t column) const { return {model, opener, emit.for_column(column), interrupt, trace}; }
};

}  // namespace winnow
