// Media prefilled as a whole, probed, then compressed in one event (phase context).
#pragma once

#include "engine/generation/reading/media_reading.h"

namespace winnow {

class ReadOnce final : public MediaReading {
 public:
  using MediaReading::MediaReading;
  PreparedContext prepare(const RequestContext& context, const UnreadMedia& media) const override;
};

}  // namespace winnow
