// A PDF that is open: Qt PDF (PDFium) over the bytes of a MediaFile.
//
// Used by pdf_text.h and page_picture.h. Scripts, embedded files and links are never run or followed; Debian's PDFium has no script engine.
// Errors: Exception kPasswordNeeded (none is known, or it is another: MediaFile::password()), kDamagedFile, kUnsupportedFormat (a
// protection that PDFium does not know), kLimitExceeded. Threads: PDFium reads one document at a time in a process.
#pragma once

#include <QIODevice>
#include <QPdfDocument>
#include <memory>
#include <string>

#include "app/media/files/media_file.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

inline constexpr std::int64_t kMostPdfBytes = std::int64_t{1} << 30;

class PdfFile {
 public:
  // The file outlives it.
  explicit PdfFile(const MediaFile& file);

  int pages() const { return m_document->pageCount(); }
  QPdfDocument& document() { return *m_document; }
  // Pages of a request, from 0 and without the last: [first, end). Errors: kInvalidArgument where the file has none of them.
  struct Range {
    int first = 0;
    int end = 0;
  };
  Range rangeOf(const PageRange& pages) const;

 private:
  const std::string m_path;
  std::unique_ptr<QIODevice> m_bytes;
  std::unique_ptr<QPdfDocument> m_document;
};

}  // namespace winnow::app
