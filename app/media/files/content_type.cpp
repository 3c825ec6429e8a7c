#include "app/media/files/content_type.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/known_format.h"

namespace winnow::app {
namespace {

struct TypeRow {
  ContentType type;
  MediaKind kind;
  const char* name;
  const char* reader;
};

constexpr TypeRow kTypes[] = {
    {ContentType::kPng, MediaKind::kImage, "png", "png"},
    {ContentType::kJpeg, MediaKind::kImage, "jpeg", "mjpeg"},
    {ContentType::kGif, MediaKind::kImage, "gif", "gif"},
    {ContentType::kBmp, MediaKind::kImage, "bmp", "bmp"},
    {ContentType::kWebp, MediaKind::kImage, "webp", "webp"},
    {ContentType::kHeic, MediaKind::kImage, "heic", nullptr},
    {ContentType::kAvif, MediaKind::kImage, "avif", nullptr},
    {ContentType::kMov, MediaKind::kVideo, "mp4", "mov"},
    {ContentType::kMatroska, MediaKind::kVideo, "matroska", "matroska"},
    {ContentType::kAvi, MediaKind::kVideo, "avi", "avi"},
    {ContentType::kMpegTs, MediaKind::kVideo, "mpegts", "mpegts"},
    {ContentType::kMpegPs, MediaKind::kVideo, "mpegps", "mpeg"},
    {ContentType::kFlv, MediaKind::kVideo, "flv", "flv"},
    {ContentType::kOgg, MediaKind::kVideo, "ogg", "ogg"},
    {ContentType::kAsf, MediaKind::kVideo, "asf", "asf"},
};

const TypeRow& rowOf(ContentType type) {
  const auto* found = std::ranges::find(kTypes, type, &TypeRow::type);
  if (found == std::end(kTypes)) throw Exception(ErrorCode::kInternal, "", "unknown content type");
  return *found;
}

constexpr std::int64_t kHeadBytes = 4096;

using Bytes = std::span<const std::uint8_t>;

bool hasAt(Bytes head, std::size_t offset, std::string_view magic) {
  return head.size() >= offset + magic.size() && std::memcmp(head.data() + offset, magic.data(), magic.size()) == 0;
}

using namespace std::string_view_literals;

// Videos that are refused by name, none of which reaches FFmpeg; its program reads them all.
struct RefusedVideo {
  std::string_view magic;
  const char* what;
};
constexpr RefusedVideo kRefusedVideos[] = {
    {"\0\0\1\xB3"sv, "a bare MPEG video stream"},
    {"\0\0\0\1\x67"sv, "a bare H.264 stream"},
    {"\0\0\0\1\x09"sv, "a bare H.264 stream"},
    {"\0\0\0\1\x40\1"sv, "a bare HEVC stream"},
    {".RMF"sv, "a RealMedia file"},
    {"\x06\x0E\x2B\x34\x02\x05\x01\x01"sv, "an MXF file"},
    {"\xB7\xD8\x00\x20\x37\x49\xDA\x11"sv, "a recording of Windows Media Center"},
    {"DKIF"sv, "an IVF file"},
    {"YUV4MPEG2 "sv, "an uncompressed video (Y4M)"},
    {"\x1F\x07\x00"sv, "a bare DV stream"},
    {"nut/multimedia container"sv, "a NUT file"},
};

constexpr std::string_view kHeifBrands[] = {"heic"sv, "heix"sv, "heim"sv, "heis"sv, "hevc"sv,
                                            "hevx"sv, "mif1"sv, "msf1"sv, "avif"sv, "avis"sv};
constexpr std::string_view kMovFirstBoxes[] = {"moov"sv, "mdat"sv, "wide"sv, "free"sv, "skip"sv, "pnot"sv, "moof"sv, "styp"sv, "sidx"sv};

[[noreturn]] void refuseContent(const std::string& subject, const std::string& reason) {
  throw Exception(ErrorCode::kUnsupportedFormat, subject, reason);
}

// Among the brands that a picture of the HEIF family fits.
bool namesAvif(Bytes head) {
  const std::size_t end = std::min<std::size_t>(head.size(), std::size_t{head[2]} << 8 | head[3]);
  for (std::size_t at = 8; at + 4 <= end; at += 4) {
    if (hasAt(head, at, "avif"sv) || hasAt(head, at, "avis"sv)) return true;
  }
  return false;
}

// Packets of 188 bytes, of 192 with a time code before each (camera files), or of 204 with check bytes behind it (broadcasts). A recording
// may begin within one; then more of them are wanted.
bool looksLikeMpegTs(Bytes head) {
  constexpr std::size_t kEnough = 8;
  constexpr std::size_t kFewest = 3;
  for (const std::size_t step : {188, 192, 204}) {
    for (std::size_t first = 0; first < std::min(step, head.size()); ++first) {
      std::size_t packets = 0;
      std::size_t at = first;
      for (; at < head.size() && packets < kEnough && head[at] == 0x47; at += step) ++packets;
      const bool whole = first == 0 || (first == 4 && step == 192);
      if (packets == kEnough || (whole && packets >= kFewest && at >= head.size())) return true;
    }
  }
  return false;
}

bool looksLikeBmp(Bytes head) {
  if (!hasAt(head, 0, "BM"sv) || head.size() < 30) return false;
  const std::uint32_t headerBytes = head[14] | head[15] << 8 | head[16] << 16 | static_cast<std::uint32_t>(head[17]) << 24;
  return headerBytes == 12 || headerBytes == 16 || (headerBytes >= 40 && headerBytes <= 124);
}

bool looksLikeText(Bytes head) {
  // A zero byte or a control character that no text has says binary; bytes of 0x80 and above may be UTF-8 or Latin-1.
  return std::none_of(head.begin(), head.end(),
                      [](std::uint8_t c) { return c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1B; });
}

// Formats that exist in the wild and are refused by name; nothing of them reaches FFmpeg. Where the first bytes are letters, only what
// could not be the beginning of a text is believed.
void refuseKnownFormat(Bytes head, const std::string& subject) {
  const auto bytes = std::as_bytes(head);
  const KnownFormat* const format = known_format(bytes);
  if (format == nullptr || format->kind == FormatKind::kPage) return;
  if (format->kind == FormatKind::kPointer) throw Exception(*unfetched(bytes, subject));
  const bool medium = format->kind == FormatKind::kPicture || format->kind == FormatKind::kMedia;
  const bool document = format->kind == FormatKind::kDocument || format->kind == FormatKind::kPaper;
  if (!medium && !document && looksLikeText(head)) return;
  if (format->kind == FormatKind::kPaper)
    refuseContent(subject, std::string("this is ") + format->name + ", not an image or a video: attach it as a document");
  std::string remedy;
  if (format->kind == FormatKind::kPicture) remedy = std::string("; ") + kConvertPicture;
  if (format->kind == FormatKind::kDocument) remedy = "; save it as PDF";
  if (format->kind == FormatKind::kArchive) remedy = "; unpack it, and attach the files that are in it";
  refuseContent(subject, std::string("this is ") + format->name + ", which is not supported" + remedy);
}

[[noreturn]] void refuseText(std::string_view text, const std::string& subject) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos) text.remove_prefix(start);
  if (text.starts_with("#EXTM3U")) refuseContent(subject, "this is a playlist (HLS), not a video");
  if (text.starts_with("ffconcat")) refuseContent(subject, "this is a playlist (ffconcat), not a video");
  if (text.starts_with("[playlist]")) refuseContent(subject, "this is a playlist (PLS), not a video");
  if (text.starts_with("v=0")) refuseContent(subject, "this is a stream description (SDP), not a video");
  if (text.find("<MPD") != std::string_view::npos) refuseContent(subject, "this is a playlist (DASH), not a video");
  if (text.find("<svg") != std::string_view::npos)
    refuseContent(subject,
                  "this is an SVG drawing, which is not supported; save it as PNG, where it opens or by: rsvg-convert FILE -o NEW.png");
  if (text.starts_with("<")) refuseContent(subject, "this is a web page or an XML file, not an image or a video");
  refuseContent(subject, "this is a text file, not an image or a video");
}

}  // namespace

ContentType detectContent(Bytes head, const std::string& subject) {
  if (hasAt(head, 0, "\x89PNG\r\n\x1A\n"sv)) return ContentType::kPng;
  if (hasAt(head, 0, "\xFF\xD8\xFF"sv)) return ContentType::kJpeg;
  if (hasAt(head, 0, "GIF87a"sv) || hasAt(head, 0, "GIF89a"sv)) return ContentType::kGif;
  if (hasAt(head, 0, "RIFF"sv) && hasAt(head, 8, "WEBP"sv)) return ContentType::kWebp;
  if (hasAt(head, 0, "RIFF"sv) && hasAt(head, 8, "AVI "sv)) return ContentType::kAvi;
  if (hasAt(head, 0, "\x1A\x45\xDF\xA3"sv)) return ContentType::kMatroska;
  if (hasAt(head, 0, "\0\0\1\xBA"sv)) return ContentType::kMpegPs;
  if (hasAt(head, 0, "FLV\1"sv)) return ContentType::kFlv;
  if (hasAt(head, 0, "OggS"sv)) return ContentType::kOgg;
  if (hasAt(head, 0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11"sv)) return ContentType::kAsf;
  if (hasAt(head, 4, "ftyp"sv)) {
    for (const auto brand : kHeifBrands) {
      if (hasAt(head, 8, brand)) return namesAvif(head) ? ContentType::kAvif : ContentType::kHeic;
    }
    if (hasAt(head, 8, "crx "sv))
      refuseContent(subject, std::string("this is a raw picture of a camera (CR3), which is not supported; ") + kConvertPicture);
    return ContentType::kMov;
  }
  // QuickTime files may begin without ftyp. A size below 16 MiB, or that of the media data, keeps words of a text apart from box names.
  for (const auto box : kMovFirstBoxes) {
    if (hasAt(head, 4, box) && (head[0] == 0 || box == "mdat")) return ContentType::kMov;
  }
  if (hasAt(head, 0, "\x1F\x43\xB6\x75"sv)) throw Exception(ErrorCode::kUnsupportedFormat, subject, kSegmentAlone);
  for (const auto& format : kRefusedVideos) {
    if (hasAt(head, 0, format.magic)) {
      refuseContent(subject, std::string("this is ") + format.what + ", which is not supported; " + kConvertVideo);
    }
  }
  refuseKnownFormat(head, subject);
  if (!looksLikeText(head) && looksLikeMpegTs(head)) return ContentType::kMpegTs;
  if (looksLikeBmp(head)) return ContentType::kBmp;
  if (looksLikeText(head)) refuseText({reinterpret_cast<const char*>(head.data()), head.size()}, subject);
  refuseContent(subject,
                "this is neither an image (PNG, JPEG, WebP, HEIC, AVIF, BMP, GIF) nor a video (MP4, MOV, 3GP, WebM, MKV, AVI, TS, MPG, "
                "FLV, OGV, WMV)");
}

bool mayBecomeVideo(Bytes head) {
  constexpr std::size_t kLongestPacket = 204;
  const Bytes first = head.first(std::min(head.size(), kLongestPacket));
  return !looksLikeText(head) && std::ranges::find(first, 0x47) != first.end();
}

ContentType detectContent(const MediaFile& file) { return detectContent(file.readRange(0, kHeadBytes), file.path()); }

MediaKind kindOf(ContentType type) { return rowOf(type).kind; }
std::string nameOf(ContentType type) { return rowOf(type).name; }
const char* readerOf(ContentType type) { return rowOf(type).reader; }

}  // namespace winnow::app
