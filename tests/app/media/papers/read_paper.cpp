// Reads one document as Winnow does, for papers_against_poppler.py: its text on standard output, or a page as a PPM file.
//
//   read_paper [--password P] FILE           notices and errors go to standard error
//   read_paper FILE PAGE PICTURE.ppm         at 120 dots per inch, or smaller where the page is larger than a sheet
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "app/ground/notices/notice_text.h"
#include "app/media/process/process_media_reader.h"
#include "engine/base/error.h"

namespace {

void writePicture(const winnow::RgbImage& picture, const char* file) {
  std::FILE* const out = std::fopen(file, "wb");
  if (out == nullptr) throw winnow::Exception(winnow::ErrorCode::kFileUnwritable, file, "it cannot be written");
  std::fprintf(out, "P6\n%d %d\n255\n", picture.width_px, picture.height_px);
  std::fwrite(picture.rgb.data(), 1, picture.rgb.size(), out);
  std::fclose(out);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace winnow;
  app::Passwords passwords;
  app::MediaProcessSettings settings{.passwords = &passwords};
  const app::ProcessMediaReader reader(settings);
  int at = 1;
  const bool locked = argc > 3 && std::strcmp(argv[1], "--password") == 0;
  if (locked) at = 3;
  if (argc <= at) return 2;
  if (locked) passwords.set({argv[at], argv[2]});
  try {
    MediaRequest request{argv[at], MediaKind::kDocument, {}};
    if (argc > at + 2) {
      request.kind = MediaKind::kImage;
      request.pages.first = request.pages.last = std::atoi(argv[at + 1]);
      writePicture(reader.openSource(request, {})->read(0, 1, {}).at(0).image, argv[at + 2]);
      return 0;
    }
    const auto source = reader.openSource(request, {});
    std::fputs(source->text().c_str(), stdout);
    for (const MediaNotice& notice : source->notices()) std::fprintf(stderr, "%s\n", app::noticeText(notice).c_str());
  } catch (const Exception& problem) {
    std::fprintf(stderr, "%s\n", problem.error().reason.c_str());
    return 1;
  }
}
