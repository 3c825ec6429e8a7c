#include "app/media/papers/page_picture.h"

#include <QImage>
#include <QPdfDocumentRenderOptions>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "app/media/files/picture_source.h"
#include "app/media/papers/pdf_file.h"
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

RgbImage drawn(const MediaFile& file, PdfFile& pdf, int page, QSize size) {
  QPdfDocumentRenderOptions options;
  options.setRenderFlags(QPdfDocumentRenderOptions::RenderFlag::Annotations);
  const QImage picture = pdf.document().render(page, size, options).convertToFormat(QImage::Format_ARGB32);
  if (picture.isNull())
    throw Exception(ErrorCode::kDamagedFile, file.path(), "page " + std::to_string(page + 1) + " is damaged: it cannot be drawn");
  return onWhite(picture);
}

}  // namespace

std::unique_ptr<MediaSource> openPage(std::unique_ptr<MediaFile> file, const MediaRequest& request, const MediaLimits& limits) {
  if (request.pages.first != request.pages.last) throw Exception(ErrorCode::kInvalidArgument, request.path, "a picture shows one page");
  const auto pdf = std::make_shared<PdfFile>(*file);  // shared: the function that draws can be copied
  const int page = pdf->rangeOf(request.pages).first;
  const QSize size = sizeOf(pdf->document().pagePointSize(page), request, limits);
  MediaInfo info{.container = "pdf", .codec = "pdf", .widthPx = size.width(), .heightPx = size.height(), .pages = pdf->pages()};
  return std::make_unique<PictureSource>(
      std::move(file), std::move(info),
      [pdf, page, size](const MediaFile& of, MediaInfo&, const InterruptToken&) { return drawn(of, *pdf, page, size); });
}

}  // namespace winnow::app
