#include "app/media/papers/page_picture.h"

#include <QImage>
#include <QPdfDocumentRenderOptions>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/media/files/content_hash.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr double kPointsPerInch = 72.0;
constexpr double kUsualDots = 120.0;  // an inch, at which the letters of a paper can be read
constexpr double kMostDots = 300.0;
constexpr double kUsualPixels = 1.4e6;  // of a page larger than a sheet of paper, too: A4 at 120 dots

QSize sizeOf(QSizeF points, const MediaRequest& request, const MediaLimits& limits) {
  const double area = points.width() * points.height();
  const double ratio = std::max(points.width(), points.height()) / std::min(points.width(), points.height());
  if (!std::isfinite(area) || area <= 0.0 || !(ratio <= limits.imageSideRatio))
    throw Exception(ErrorCode::kLimitExceeded, request.path,
                    "page " + std::to_string(request.pages.first) + " has a shape that is not shown");
  const double most = request.most_pixels > 0 ? static_cast<double>(std::min(request.most_pixels, limits.imagePixels)) : kUsualPixels;
  const double dots = request.most_pixels > 0 ? kMostDots : kUsualDots;
  const double scale =
      std::min({std::sqrt(most / area), dots / kPointsPerInch, limits.imageSidePx / std::max(points.width(), points.height())});
  const auto pixels = [scale](double side) { return std::max(1, static_cast<int>(std::lround(side * scale))); };
  return {pixels(points.width()), pixels(points.height())};
}

// Over white: a page has no colour of its own where nothing is drawn.
RgbImage onWhite(const QImage& drawn) {
  RgbImage page{drawn.width(), drawn.height(), {}};
  page.rgb.reserve(static_cast<std::size_t>(page.width_px) * static_cast<std::size_t>(page.height_px) * 3);
  for (int y = 0; y < drawn.height(); ++y) {
    const auto* const row = reinterpret_cast<const QRgb*>(drawn.constScanLine(y));
    for (int x = 0; x < drawn.width(); ++x) {
      const int alpha = qAlpha(row[x]);
      for (const int colour : {qRed(row[x]), qGreen(row[x]), qBlue(row[x])})
        page.rgb.push_back(static_cast<std::uint8_t>((colour * alpha + 255 * (255 - alpha) + 127) / 255));
    }
  }
  return page;
}

}  // namespace

PagePicture::PagePicture(std::unique_ptr<MediaFile> file, const MediaRequest& request, const MediaLimits& limits)
    : m_file(std::move(file)), m_pdf(*m_file) {
  if (request.pages.first != request.pages.last) throw Exception(ErrorCode::kInvalidArgument, request.path, "a picture shows one page");
  m_page = m_pdf.rangeOf(request.pages).first;
  const QSize size = sizeOf(m_pdf.document().pagePointSize(m_page), request, limits);
  m_info.kind = MediaKind::kImage;
  m_info.container = "pdf";
  m_info.codec = "pdf";
  m_info.widthPx = size.width();
  m_info.heightPx = size.height();
  m_info.fileBytes = m_file->sizeBytes();
  m_info.frameCount = 1;
  m_info.pages = m_pdf.pages();
}

std::string PagePicture::content_hash() const {
  if (m_hash.empty()) m_hash = contentHash(*m_file);
  return m_hash;
}

std::vector<SampledFrame> PagePicture::read(int first, int count, const InterruptToken& interrupt) {
  if (count == 0 && (first == 0 || first == 1)) return {};
  if (first != 0 || count != 1) throw Exception(ErrorCode::kInvalidArgument, m_file->path(), "a page is one picture");
  interrupt.throw_if_requested();
  QPdfDocumentRenderOptions options;
  options.setRenderFlags(QPdfDocumentRenderOptions::RenderFlag::Annotations);
  const QImage drawn = m_pdf.document().render(m_page, {m_info.widthPx, m_info.heightPx}, options).convertToFormat(QImage::Format_ARGB32);
  if (drawn.isNull())
    throw Exception(ErrorCode::kDamagedFile, m_file->path(), "page " + std::to_string(m_page + 1) + " is damaged: it cannot be drawn");
  std::vector<SampledFrame> frames(1);
  frames[0].image = onWhite(drawn);
  return frames;
}

}  // namespace winnow::app
