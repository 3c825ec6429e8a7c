#include "engine/media/sound_source.h"

#include "engine/base/error.h"
#include "engine/media/frame_source.h"

namespace winnow {

std::unique_ptr<SoundSource> MediaOpener::open_sound(const SoundRequest& request, const InterruptToken& /*interrupt*/) {
  throw Exception(ErrorCode::kUnsupportedFormat, request.path, "sound is not read here");
}

}  // namespace winnow
