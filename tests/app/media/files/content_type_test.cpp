#include "app/media/files/content_type.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

ContentType detect(const std::string& head) {
  return detectContent({reinterpret_cast<const std::uint8_t*>(head.data()), head.size()}, "name");
}

std::string refusal(const std::string& head) {
  try {
    detect(head);
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kUnsupportedFormat);
    EXPECT_EQ(exception.error().subject, "name");
    return exception.error().reason;
  }
  ADD_FAILURE() << "accepted: " << head;
  return {};
}

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

TEST(ContentType, KnowsTheAllowedFormatsByTheirFirstBytes) {
  EXPECT_EQ(detect("\x89PNG\r\n\x1A\n"), ContentType::kPng);
  EXPECT_EQ(detect("\xFF\xD8\xFF\xE0"), ContentType::kJpeg);
  EXPECT_EQ(detect("GIF89a...."), ContentType::kGif);
  EXPECT_EQ(detect("RIFF....WEBPVP8 "), ContentType::kWebp);
  EXPECT_EQ(detect("RIFF....AVI LIST"), ContentType::kAvi);
  EXPECT_EQ(detect("\x1A\x45\xDF\xA3..."), ContentType::kMatroska);
  EXPECT_EQ(detect("....ftypisom"), ContentType::kMov);
  EXPECT_EQ(detect(bytes({0, 0, 0, 24}) + "ftypheic....mif1heic"), ContentType::kHeic);
  EXPECT_EQ(detect(bytes({0, 0, 0, 24}) + "ftypavif....mif1miaf"), ContentType::kAvif);
  EXPECT_EQ(detect(bytes({0, 0, 0, 24}) + "ftypmif1....avifmiaf"), ContentType::kAvif);
  EXPECT_EQ(detect(bytes({0, 0, 0, 20}) + "ftypmif1....miafavif"), ContentType::kHeic) << "its brands end before";
  EXPECT_EQ(detect(bytes({0, 0, 1, 0}) + "moov...."), ContentType::kMov) << "QuickTime files may have no ftyp box";
  std::string transport(188 * 8, '\0');
  for (std::size_t packet = 0; packet < 8; ++packet) transport[packet * 188] = 0x47;
  EXPECT_EQ(detect(transport), ContentType::kMpegTs);
  EXPECT_EQ(detect(bytes({0, 0, 1, 0xBA}) + "...."), ContentType::kMpegPs);
  EXPECT_EQ(detect(std::string("FLV") + bytes({1, 5, 0, 0, 0, 9})), ContentType::kFlv);
  EXPECT_EQ(detect("OggS...."), ContentType::kOgg);
  EXPECT_EQ(detect(bytes({0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11})), ContentType::kAsf);
}

// Camera files and broadcasts have more bytes to each packet; recordings may begin anywhere in one.
TEST(ContentType, KnowsTransportStreamsByTheirSteps) {
  for (const std::size_t step : {188, 192, 204}) {
    for (const std::size_t first : {0, 4, 88, 187}) {
      std::string transport(step * 10, '\0');
      for (std::size_t at = first; at < transport.size(); at += step) transport[at] = 0x47;
      EXPECT_EQ(detect(transport), ContentType::kMpegTs) << step << " bytes, from " << first;
      EXPECT_TRUE(mayBecomeVideo({reinterpret_cast<const std::uint8_t*>(transport.data()), 600})) << step << " bytes, from " << first;
    }
  }
  std::string few(188 * 5, '\0');
  for (std::size_t at = 100; at < few.size(); at += 188) few[at] = 0x47;
  refusal(few);
  EXPECT_EQ(refusal(std::string(4096, 'G')), "this is a text file, not an image or a video");
}

TEST(ContentType, NamesASegmentThatLacksItsBeginning) {
  EXPECT_EQ(refusal("\x1F\x43\xB6\x75" + bytes({0x01, 0, 0, 0, 0, 0, 0x12, 0x34, 0xE7, 0x81, 0})), kSegmentAlone);
}

TEST(ContentType, NamesPlaylistsAndDescriptions) {
  EXPECT_EQ(refusal("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), "this is a playlist (HLS), not a video");
  EXPECT_EQ(refusal("\xEF\xBB\xBF\n#EXTM3U\n"), "this is a playlist (HLS), not a video");
  EXPECT_EQ(refusal("ffconcat version 1.0\nfile x.mp4\n"), "this is a playlist (ffconcat), not a video");
  EXPECT_EQ(refusal("<?xml version=\"1.0\"?><MPD></MPD>"), "this is a playlist (DASH), not a video");
  EXPECT_EQ(refusal("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n"), "this is a stream description (SDP), not a video");
  EXPECT_EQ(refusal("[playlist]\nFile1=x"), "this is a playlist (PLS), not a video");
}

TEST(ContentType, NamesPicturesThatAreNotSupported) {
  EXPECT_EQ(refusal("<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
            "this is an SVG drawing, which is not supported; save it as PNG, where it opens or by: rsvg-convert FILE -o NEW.png");
  for (const auto& [head, name] : {std::pair{bytes({0, 0, 0, 12}) + "jP  \r\n", "a JPEG 2000 picture"},
                                   {bytes({0, 0, 0, 12}) + "JXL \r\n", "a JPEG XL picture"},
                                   {bytes({0xFF, 0x0A}) + "....", "a JPEG XL picture"},
                                   {"II*" + bytes({0, 8, 0, 0, 0}), "a TIFF picture"},
                                   {bytes({0, 0, 1, 0, 1, 0}), "an icon file"},
                                   {bytes({0, 0, 0, 24}) + "ftypcrx ....", "a raw picture of a camera (CR3)"},
                                   {std::string("8BPS...."), "a Photoshop file"}})
    EXPECT_EQ(refusal(head), std::string("this is ") + name + ", which is not supported; " + kConvertPicture);
}

TEST(ContentType, NamesDocumentsAndArchivesWithAWay) {
  EXPECT_EQ(refusal("%PDF-1.4"), "this is a PDF document, not an image or a video: attach it as a document");
  EXPECT_EQ(refusal("PK" + bytes({3, 4}) + std::string(26, '.') + "word/document.xml"),
            "this is a document of Word, Excel or PowerPoint (docx, xlsx, pptx), not an image or a video: attach it as a document");
  EXPECT_EQ(refusal("PK" + bytes({3, 4}) + std::string(26, '.') + "Index/Document.iwa"),
            "this is a document of Pages, Numbers or Keynote, which is not supported; save it as PDF");
  EXPECT_EQ(refusal("PK" + bytes({3, 4, 0})),
            "this is a ZIP archive, which is not supported; unpack it, and attach the files that are in it");
}

TEST(ContentType, VideosThatAreNotReadComeWithTheCommandThatConvertsThem) {
  for (const auto& [head, name] : {std::pair{std::string(".RMF...."), "a RealMedia file"},
                                   {bytes({0, 0, 1, 0xB3, 0x14, 0, 0xF0, 0x13}), "a bare MPEG video stream"},
                                   {std::string("DKIF...."), "an IVF file"}}) {
    EXPECT_EQ(refusal(head), std::string("this is ") + name + ", which is not supported; " + kConvertVideo);
  }
}

TEST(ContentType, NamesTextAndTheRest) {
  EXPECT_EQ(refusal("Just some notes.\n"), "this is a text file, not an image or a video");
  EXPECT_EQ(refusal("The free world\n"), "this is a text file, not an image or a video") << "'free' is also the name of an MP4 box";
  EXPECT_EQ(refusal("<html><body>"), "this is a web page or an XML file, not an image or a video");
  EXPECT_EQ(refusal(bytes({1, 2, 3, 4, 5, 0, 0, 9})),
            "this is neither an image (PNG, JPEG, WebP, HEIC, AVIF, BMP, GIF) nor a video (MP4, MOV, 3GP, WebM, MKV, AVI, TS, MPG, FLV, "
            "OGV, WMV)");
  EXPECT_EQ(refusal("RIFF....WAVEfmt "), "this is a WAV audio file, which is not supported");
  EXPECT_EQ(refusal("B"), "this is a text file, not an image or a video");
}

}  // namespace
}  // namespace winnow::app
