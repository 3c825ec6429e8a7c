// Documents that are no plain text (PDF, office files, books, web pages, mail), read as text or as pictures of their pages: the interface.
//
// Used by FfmpegMediaOpener, which is given one in winnow-media alone (app/media/papers): the libraries behind it never run in the
// program's own processes. Errors: Exception; kPasswordNeeded, kDamagedFile, kUnsupportedFormat, kLimitExceeded. Threads: one at a time.
#pragma once

#include <memory>
#include <optional>

#include "app/media/files/document_text.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_file.h"
#include "app/media/files/media_reader.h"

namespace winnow::app {

enum class PaperType : int {
  kPdf = 1,
  kArchive,  // of an office program or a book: what it holds tells which
  kWebPage,
  kMail,
};

// By the first bytes, as a plain text or a picture is told from it; nullopt: neither of them. Text that is HTML or mail is one.
std::optional<PaperType> paperType(const MediaFile& file);

class PaperReader {
 public:
  virtual ~PaperReader() = default;
  // The pages of the request, or all. An encoding that the request names is that of a web page.
  virtual DocumentText readText(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const = 0;
  // The one page of a PDF that request.pages names, as an image.
  virtual std::unique_ptr<MediaSource> openPage(std::unique_ptr<MediaFile> file, const MediaRequest& request) const = 0;
};

}  // namespace winnow::app
