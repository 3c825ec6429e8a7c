#include "app/media/papers/papers.h"

#include <utility>

#include "app/media/papers/page_picture.h"
#include "app/media/papers/pdf_text.h"
#include "engine/base/error.h"

namespace winnow::app {

DocumentText Papers::readText(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const {
  switch (paperType(file).value_or(PaperType::kArchive)) {
    case PaperType::kPdf:
      return readPdf(file, request.pages, m_limits, interrupt);
    case PaperType::kArchive:
      throw Exception(ErrorCode::kUnsupportedFormat, file.path(), "this kind of document is not read: save it as PDF");
    case PaperType::kWebPage:
    case PaperType::kMail:
      break;
  }
  return readTextFile(file, request.encoding, "documents");
}

std::unique_ptr<MediaSource> Papers::openPage(std::unique_ptr<MediaFile> file, const MediaRequest& request) const {
  if (paperType(*file) != PaperType::kPdf)
    throw Exception(ErrorCode::kUnsupportedFormat, file->path(), "only a PDF has pages that can be shown: save it as PDF");
  return std::make_unique<PagePicture>(std::move(file), request, m_limits);
}

}  // namespace winnow::app
