#include "app/media/papers/pdf_file.h"

#include <algorithm>
#include <cstdint>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

class FileBytes final : public QIODevice {
 public:
  explicit FileBytes(const MediaFile& file) : m_file_view(file) { open(QIODevice::ReadOnly); }
  bool isSequential() const override { return false; }
  qint64 size() const override { return m_file_view.sizeBytes(); }

 protected:
  qint64 readData(char* to, qint64 most) override {
    return m_file_view.tryReadAt(pos(), {reinterpret_cast<std::uint8_t*>(to), static_cast<std::size_t>(std::max<qint64>(most, 0))});
  }
  qint64 writeData(const char*, qint64) override { return -1; }

 private:
  const MediaFile& m_file_view;
};

}  // namespace

PdfFile::PdfFile(const MediaFile& file) : m_path(file.path()) {
  if (file.sizeBytes() > kMostPdfBytes)
    throw Exception(ErrorCode::kLimitExceeded, m_path,
                    "the PDF is larger than the limit of " + std::to_string(kMostPdfBytes >> 20) + " MiB");
  m_bytes = std::make_unique<FileBytes>(file);
  m_document = std::make_unique<QPdfDocument>();
  m_document->setPassword(QString::fromStdString(file.password()));
  m_document->load(m_bytes.get());
  switch (m_document->error()) {
    case QPdfDocument::Error::None: break;
    case QPdfDocument::Error::IncorrectPassword:
      throw Exception(ErrorCode::kPasswordNeeded, m_path,
                      file.password().empty() ? "the PDF is encrypted and needs a password" : "this is not the password of the PDF");
    case QPdfDocument::Error::UnsupportedSecurityScheme:
      throw Exception(ErrorCode::kUnsupportedFormat, m_path, "the PDF is protected in a way that is not known here: save it without");
    default: throw Exception(ErrorCode::kDamagedFile, m_path, "the PDF is damaged: no page can be found in it");
  }
  if (m_document->status() != QPdfDocument::Status::Ready || m_document->pageCount() < 1)
    throw Exception(ErrorCode::kDamagedFile, m_path, "the PDF is damaged: it has no pages");
}

PdfFile::Range PdfFile::rangeOf(const PageRange& range) const {
  if (range.first == 0 && range.last == 0) return {0, pages()};
  if (range.first < 1 || range.last < range.first)
    throw Exception(ErrorCode::kInvalidArgument, m_path, "pages are counted from 1, in order");
  if (range.first > pages())
    throw Exception(ErrorCode::kInvalidArgument, m_path,
                    "there is no page " + std::to_string(range.first) + ": the last is number " + std::to_string(pages()));
  return {range.first - 1, std::min(range.last, pages())};
}

}  // namespace winnow::app
