#include "app/media/papers/papers.h"

#include <QByteArray>
#include <utility>

#include "app/media/papers/archive.h"
#include "app/media/papers/mail_text.h"
#include "app/media/papers/marked_text.h"
#include "app/media/papers/office_text.h"
#include "app/media/papers/page_picture.h"
#include "app/media/papers/pdf_text.h"
#include "app/media/papers/table_text.h"
#include "app/media/papers/web_text.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

// The kind of an archive, by a part that it must have, or by what it says of itself.
std::string containerOf(Archive& archive) {
  if (archive.has("word/document.xml")) return "docx";
  if (archive.has("xl/workbook.xml")) return "xlsx";
  if (archive.has("META-INF/container.xml")) return "epub";
  const QByteArray type = archive.part("mimetype");
  if (type.contains("opendocument.text")) return "odt";
  if (type.contains("opendocument.spreadsheet")) return "ods";
  const bool slides = archive.has("ppt/presentation.xml") || type.contains("opendocument.presentation");
  throw Exception(
      ErrorCode::kUnsupportedFormat, archive.path(),
      std::string(slides ? "this is a presentation, whose slides are not read" : "this kind of document is not read") + ": save it as PDF");
}

void readArchive(const MediaFile& file, DocumentText& read, MarkedText& into) {
  Archive archive(file);
  read.container = containerOf(archive);
  if (read.container == "docx") readWordDocument(archive, into);
  if (read.container == "odt" || read.container == "ods") readOpenDocument(archive, into);
  if (read.container == "xlsx") readSheets(archive, into, read.notices);
  if (read.container == "epub") readBook(archive, into);
}

}  // namespace

DocumentText Papers::readText(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const {
  const PaperType type = paperType(file).value_or(PaperType::kArchive);
  if (type == PaperType::kPdf) return readPdf(file, request.pages, m_limits, interrupt);
  if (request.pages != PageRange()) throw Exception(ErrorCode::kInvalidArgument, file.path(), "this document has no pages");
  DocumentText read{.encoding = "UTF-8"};
  MarkedText into;
  if (type == PaperType::kArchive) {
    readArchive(file, read, into);
  } else {
    if (file.sizeBytes() > kDocumentBytes)
      throw Exception(ErrorCode::kLimitExceeded, file.path(), "the document is larger than the limit of 16 MiB");
    const std::vector<std::uint8_t> bytes = file.readRange(0, file.sizeBytes());
    if (type == PaperType::kWebPage) read = readWebPage(bytes, request.encoding, file.path(), into);
    if (type == PaperType::kMail)
      readMail({reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())}, file.path(), into);
    read.container = type == PaperType::kMail ? "eml" : "html";
  }
  read.utf8 = into.taken();
  if (into.isFull()) read.notices.push_back({NoticeCode::kPartUnread, 0, 0, "text"});
  return read;
}

std::unique_ptr<MediaSource> Papers::openPage(std::unique_ptr<MediaFile> file, const MediaRequest& request) const {
  if (paperType(*file) != PaperType::kPdf)
    throw Exception(ErrorCode::kUnsupportedFormat, file->path(), "only a PDF has pages that can be shown: save it as PDF");
  return app::openPage(std::move(file), request, m_limits);
}

}  // namespace winnow::app
