#include "app/media/files/media_reader.h"

namespace winnow::app {

MediaInfo MediaReader::probe(const std::string& path, const InterruptToken& interrupt, const std::string& encoding) const {
  MediaRequest request;
  request.path = path;
  request.encoding = encoding;
  request.kind = detectKind(path, interrupt);
  request.plan.frame_count = request.plan.max_frames = 1;
  return openSource(request, interrupt)->info();
}

}  // namespace winnow::app
