#include "app/media/files/still_image.h"

#include <gtest/gtest.h>

#include <QByteArray>
#include <algorithm>
#include <cstdlib>

#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::Bytes;
using samples::ffmpeg;

// 40 x 30: a picture with detail, a different colour in every corner.
constexpr const char* kPicture = "-f lavfi -i testsrc=s=40x30:r=1 -frames:v 1 ";

RgbImage reference(const std::string& file) {
  const std::string raw = file + ".rgb";
  ffmpeg("-i " + file + " -frames:v 1 -vf scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp -pix_fmt rgb24 -f rawvideo " +
         raw);
  return {40, 30, samples::readBytes(raw)};
}

int largestDifference(const RgbImage& a, const RgbImage& b) {
  if (a.rgb.size() != b.rgb.size()) return 256;
  int largest = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) largest = std::max(largest, std::abs(int{a.rgb[i]} - int{b.rgb[i]}));
  return largest;
}

Bytes packed(const Bytes& rows) {
  const QByteArray compressed = qCompress(rows.data(), static_cast<qsizetype>(rows.size()));
  return Bytes(compressed.begin() + 4, compressed.end());  // Qt puts the length before the zlib stream
}

// 16 x 16 pixels in ten scans, written by Pillow: save(..., progressive=True, quality=60, optimize=True).
Bytes progressiveJpeg() {
  const QByteArray bytes = QByteArray::fromHex(
      "ffd8ffe000104a46494600010100000100010000ffdb0043"
      "000d090a0b0a080d0b0a0b0e0e0d0f13201513121213271c"
      "1e17202e2931302e292d2c333a4a3e333646372c2d405741"
      "464c4e525352323e5a615a50604a51524fffdb0043010e0e"
      "0e131113261515264f352d354f4f4f4f4f4f4f4f4f4f4f4f"
      "4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f"
      "4f4f4f4f4f4f4f4f4f4f4f4f4f4fffc20011080010001003"
      "012200021101031101ffc400150001010000000000000000"
      "0000000000000405ffc40015010101000000000000000000"
      "00000000000104ffda000c030100021003100000018ed5be"
      "67ffc4001610000300000000000000000000000000000002"
      "03ffda0008010100010502598b312624cfffc40015110101"
      "00000000000000000000000000000400ffda000801030101"
      "3f01326fffc4001711000301000000000000000000000000"
      "0000010212ffda0008010201013f0155a3ffc40014100100"
      "000000000000000000000000000020ffda0008010100063f"
      "021fffc40015100101000000000000000000000000000000"
      "61ffda0008010100013f219a68a2ffda000c030100020003"
      "00000010b7ffc40016110101010000000000000000000000"
      "0000110021ffda0008010301013f10336fffc40014110100"
      "000000000000000000000000000000ffda0008010201013f"
      "105fffc40015100101000000000000000000000000000000"
      "31ffda0008010100013f109132044fffd9");
  return Bytes(bytes.begin(), bytes.end());
}

struct Format {
  const char* name;
  const char* file;
  const char* arguments;
};
void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

class StillFormat : public ::testing::TestWithParam<Format> {};

TEST_P(StillFormat, MatchesTheFfmpegProgram) {
  const std::string file = samples::make(GetParam().file, std::string(kPicture) + GetParam().arguments);
  const RgbImage image = samples::readImage(file);
  EXPECT_EQ(image.width_px, 40);
  EXPECT_EQ(image.height_px, 30);
  EXPECT_LE(largestDifference(image, reference(file)), 2);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, StillFormat,
    ::testing::Values(Format{"PngRgb", "a.png", "-pix_fmt rgb24"}, Format{"PngGrey", "b.png", "-pix_fmt gray"},
                      Format{"PngGrey16", "c.png", "-pix_fmt gray16be"}, Format{"PngRgb16", "d.png", "-pix_fmt rgb48be"},
                      Format{"PngPalette", "e.png", "-pix_fmt pal8"}, Format{"PngOneBit", "f.png", "-pix_fmt monob"},
                      Format{"Jpeg420", "g.jpg", "-pix_fmt yuvj420p -q:v 3"}, Format{"Jpeg444", "h.jpg", "-pix_fmt yuvj444p -q:v 3"},
                      Format{"Bmp24", "i.bmp", "-pix_fmt bgr24"}, Format{"BmpPalette", "j.bmp", "-pix_fmt pal8"},
                      Format{"WebpLossless", "k.webp", "-c:v libwebp -lossless 1 -pix_fmt bgra"},
                      Format{"WebpLossy", "l.webp", "-c:v libwebp -q:v 80 -pix_fmt yuv420p"}, Format{"Gif", "m.gif", ""}),
    [](const ::testing::TestParamInfo<Format>& info) { return info.param.name; });

TEST(StillImage, TransparentPixelsLieOnWhite) {
  const std::string file = samples::make("a.png", "-f lavfi -i color=red@0.5:s=8x8,format=rgba -frames:v 1");
  const RgbImage image = samples::readImage(file);
  EXPECT_NEAR(image.rgb[0], 254, 2);
  EXPECT_NEAR(image.rgb[1], 127, 2);
  EXPECT_NEAR(image.rgb[2], 127, 2);
}

// Puts an EXIF block with an orientation behind the first two bytes of a JPEG.
Bytes withOrientation(const Bytes& jpeg, std::uint8_t value) {
  const Bytes exif{0xFF, 0xE1, 0,    34, 'E', 'x', 'i', 'f', 0, 0, 'I',   'I', 42, 0, 8, 0, 0, 0,
                   1,    0,    0x12, 1,  3,   0,   1,   0,   0, 0, value, 0,   0,  0, 0, 0, 0, 0};
  Bytes file(jpeg.begin(), jpeg.begin() + 2);
  file.insert(file.end(), exif.begin(), exif.end());
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

TEST(StillImage, ExifOrientationIsApplied) {
  const std::string file = samples::make("a.jpg", std::string(kPicture) + "-pix_fmt yuvj444p -q:v 3");
  const Bytes plain = samples::readBytes(file);
  const RgbImage stored = samples::readImage(file);
  for (int value = 1; value <= 8; ++value) {
    samples::writeBytes(file, withOrientation(plain, static_cast<std::uint8_t>(value)));
    const auto source = FfmpegMediaOpener().openSource(samples::image(file), {});
    const RgbImage image = source->read(0, 1, {}).front().image;
    EXPECT_EQ(image.rgb, makeUpright(stored, static_cast<Orientation>(value)).rgb) << value;
    EXPECT_EQ(source->info().widthPx, value >= 5 ? 30 : 40);
    EXPECT_EQ(image.width_px, source->info().widthPx);
  }
}

Bytes twoSegments(const Bytes& jpeg, std::uint8_t first, std::uint8_t second) {
  return withOrientation(withOrientation(jpeg, second), first);
}

// The camera's stands first; Pillow and browsers take that one, whatever it says.
TEST(StillImage, OfSeveralExifBlocksTheFirstCounts) {
  const std::string file = samples::make("a.jpg", std::string(kPicture) + "-pix_fmt yuvj444p -q:v 3");
  const Bytes plain = samples::readBytes(file);
  const RgbImage stored = samples::readImage(file);
  samples::writeBytes(file, twoSegments(plain, 6, 1));
  EXPECT_EQ(samples::readImage(file).rgb, makeUpright(stored, Orientation::kRotate90).rgb);
  samples::writeBytes(file, twoSegments(plain, 1, 6));
  EXPECT_EQ(samples::readImage(file).rgb, stored.rgb);

  const auto exif = [](std::uint8_t value) {
    return samples::chunk("eXIf", {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, value, 0, 0, 0, 0, 0, 0, 0});
  };
  Bytes both = exif(3);
  const Bytes later = exif(1);
  both.insert(both.end(), later.begin(), later.end());
  const std::string png = samples::path("a.png");
  samples::writeBytes(png, samples::png(2, 1, packed({0, 10, 20}), both));
  EXPECT_EQ(samples::readImage(png).rgb, (Bytes{20, 20, 20, 10, 10, 10}));
}

TEST(StillImage, CmykJpegHasTheRightColours) {
  // 8 x 8 pixels of (200, 60, 30), written by ImageMagick: convert flat.ppm -colorspace CMYK -quality 95 -strip flat.jpg
  const Bytes jpeg{0xff, 0xd8, 0xff, 0xee, 0x00, 0x0e, 0x41, 0x64, 0x6f, 0x62, 0x65, 0x00, 0x64, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0xdb,
                   0x00, 0x43, 0x00, 0x02, 0x01, 0x01, 0x01, 0x01, 0x01, 0x02, 0x01, 0x01, 0x01, 0x02, 0x02, 0x02, 0x02, 0x02, 0x04, 0x03,
                   0x02, 0x02, 0x02, 0x02, 0x05, 0x04, 0x04, 0x03, 0x04, 0x06, 0x05, 0x06, 0x06, 0x06, 0x05, 0x06, 0x06, 0x06, 0x07, 0x09,
                   0x08, 0x06, 0x07, 0x09, 0x07, 0x06, 0x06, 0x08, 0x0b, 0x08, 0x09, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x06, 0x08, 0x0b, 0x0c,
                   0x0b, 0x0a, 0x0c, 0x09, 0x0a, 0x0a, 0x0a, 0xff, 0xdb, 0x00, 0x43, 0x01, 0x02, 0x02, 0x02, 0x02, 0x02, 0x02, 0x05, 0x03,
                   0x03, 0x05, 0x0a, 0x07, 0x06, 0x07, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
                   0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
                   0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0xff, 0xc0, 0x00, 0x14,
                   0x08, 0x00, 0x08, 0x00, 0x08, 0x04, 0x01, 0x11, 0x00, 0x02, 0x11, 0x01, 0x03, 0x11, 0x01, 0x04, 0x11, 0x00, 0xff, 0xc4,
                   0x00, 0x15, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                   0x09, 0xff, 0xc4, 0x00, 0x14, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                   0x00, 0x00, 0x00, 0xff, 0xc4, 0x00, 0x15, 0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                   0x00, 0x00, 0x00, 0x00, 0x08, 0x09, 0xff, 0xc4, 0x00, 0x14, 0x11, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                   0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xda, 0x00, 0x0e, 0x04, 0x01, 0x00, 0x02, 0x11, 0x03, 0x11, 0x04,
                   0x00, 0x00, 0x3f, 0x00, 0x43, 0x21, 0x23, 0xd4, 0x81, 0xff, 0xd9};
  const std::string file = samples::path("cmyk.jpg");
  samples::writeBytes(file, jpeg);
  const RgbImage image = samples::readImage(file);
  ASSERT_EQ(image.width_px, 8);
  EXPECT_NEAR(image.rgb[0], 200, 4);
  EXPECT_NEAR(image.rgb[1], 60, 4);
  EXPECT_NEAR(image.rgb[2], 30, 4);
}

TEST(StillImage, FirstFrameOfAnAnimationWithANotice) {
  const std::string gif = samples::make("a.gif", samples::numbered(6, 5));
  const std::string webp = samples::make("a.webp", samples::numbered(6, 5) + " -c:v libwebp_anim -lossless 1");
  const std::string apng = samples::make("a.png", samples::numbered(6, 5) + " -f apng");
  for (const std::string& file : {gif, webp, apng}) {
    const auto source = FfmpegMediaOpener().openSource(samples::image(file), {});
    EXPECT_EQ(source->notices(), (std::vector<MediaNotice>{{NoticeCode::kAnimated}})) << file;
    const RgbImage image = source->read(0, 1, {}).front().image;
    EXPECT_EQ(image.width_px, 64);
    EXPECT_EQ(samples::numberIn(image), 0) << file;
  }
}

TEST(StillImage, CutFilesAreErrorsAndNeverAnotherPicture) {
  for (const char* name : {"a.png", "a.jpg", "a.webp", "a.bmp", "a.gif"}) {
    const std::string file = samples::path(name);
    ffmpeg(std::string(kPicture) + file);
    const Bytes whole = samples::readBytes(file);
    for (int percent = 1; percent < 100; percent += 3) {
      const auto length = static_cast<std::ptrdiff_t>(whole.size() * static_cast<std::size_t>(percent) / 100);
      samples::writeBytes(file, Bytes(whole.begin(), whole.begin() + length));
      if (length == 0) continue;
      const Error error = samples::errorOf(file);
      EXPECT_TRUE(error.code == ErrorCode::kDamagedFile || (length < 12 && error.code == ErrorCode::kUnsupportedFormat))
          << name << " at " << percent << " %: " << error.reason;
    }
  }
  const std::string file = samples::path("b.jpg");
  ffmpeg(std::string(kPicture) + file);
  Bytes bytes = samples::readBytes(file);
  bytes.resize(bytes.size() - 100);
  samples::writeBytes(file, bytes);
  EXPECT_EQ(samples::errorOf(file).reason, "the picture is cut off: the end of the file is missing");
}

TEST(StillImage, SizeIsRefusedByTheHeader) {
  const auto refusal = [](std::uint32_t width, std::uint32_t height) {
    const std::string file = samples::path("huge.png");
    samples::writeBytes(file, samples::png(width, height, packed(Bytes(100, 0))));
    return samples::errorOf(file);
  };
  EXPECT_EQ(refusal(30'000, 30'000).code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal(30'000, 30'000).reason, "the picture of 30000 x 30000 pixels is larger than the limit of 256 megapixels");
  EXPECT_EQ(refusal(16'001, 16'000).code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(refusal(201, 1).reason, "the picture of 201 x 1 pixels is too narrow (one side is more than 200 times the other)");
  EXPECT_EQ(refusal(0, 10).code, ErrorCode::kDamagedFile);
  EXPECT_EQ(refusal(0xFFFFFFFF, 0xFFFFFFFF).code, ErrorCode::kLimitExceeded);
  MediaLimits limits{.imageFileBytes = 10};
  const std::string file = samples::path("huge.png");
  EXPECT_EQ(samples::errorOf(file, limits).code, ErrorCode::kLimitExceeded);
}

// A picture whose pixels are all there is whole, whatever became of the bytes that say so.
TEST(StillImage, TheMarkOfTheEndMayBeMissing) {
  for (const char* name : {"a.jpg", "a.png", "progressive.jpg"}) {
    const std::string file = samples::path(name);
    if (name == std::string("progressive.jpg")) {
      samples::writeBytes(file, progressiveJpeg());
    } else {
      ffmpeg(std::string(kPicture) + file);
    }
    const RgbImage whole = samples::readImage(file);
    Bytes bytes = samples::readBytes(file);
    bytes.resize(bytes.size() - (name == std::string("a.png") ? 12 : 2));
    samples::writeBytes(file, bytes);
    EXPECT_EQ(samples::readImage(file).rgb, whole.rgb) << name;
    for (const std::size_t less : {std::size_t{3}, std::size_t{9}, std::size_t{40}}) {
      samples::writeBytes(file, Bytes(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(less)));
      EXPECT_EQ(samples::errorOf(file).reason, "the picture is cut off: the end of the file is missing") << name << " without " << less;
    }
  }
}

// Its pixels in two parts, of which the second is missing together with the end mark.
TEST(StillImage, APngWithoutItsLastPixelsIsCutOff) {
  Bytes rows;
  for (int y = 0; y < 64; ++y) {
    rows.push_back(0);
    for (int x = 0; x < 64; ++x) rows.push_back(static_cast<std::uint8_t>(x * y * 7));
  }
  const Bytes all = packed(rows);
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  Bytes file = samples::png(64, 64, Bytes(all.begin(), half));
  file.resize(file.size() - 12);
  const std::string path = samples::path("half.png");
  samples::writeBytes(path, file);
  EXPECT_EQ(samples::errorOf(path).reason, "the picture is cut off: the end of the file is missing");
  const Bytes rest = samples::chunk("IDAT", Bytes(half, all.end()));
  file.insert(file.end(), rest.begin(), rest.end());
  samples::writeBytes(path, file);
  EXPECT_EQ(samples::readImage(path).rgb[3 * (64 * 63 + 63)], static_cast<std::uint8_t>(63 * 63 * 7));
}

TEST(StillImage, AVeryLongPictureIsScaledDown) {
  const std::string file = samples::make("long.png", "-f lavfi -i color=blue:s=1080x17000 -frames:v 1");
  const auto source = FfmpegMediaOpener().openSource(samples::image(file), {});
  EXPECT_EQ(source->info().widthPx, 1041);
  EXPECT_EQ(source->info().heightPx, 16'384);
  EXPECT_EQ(source->notices(), (std::vector<MediaNotice>{{NoticeCode::kScaledDown, 1080, 17'000}}));
  const RgbImage image = source->read(0, 1, {}).front().image;
  EXPECT_EQ(image.width_px, 1041);
  EXPECT_EQ(image.height_px, 16'384);
  EXPECT_GT(image.rgb[2], 240);
}

// Each side at half as often as the limit of pixels asks for; what is told and what is delivered are of one size.
TEST(StillImage, APictureOfManyPixelsIsReadSmall) {
  const std::string large = "-f lavfi -i testsrc=s=401x303:r=1 -frames:v 1 ";
  const std::string rgb = samples::make("small.rgb", large + "-vf scale=201:152:flags=area -pix_fmt rgb24 -f rawvideo");
  const RgbImage expected{201, 152, samples::readBytes(rgb)};
  for (const Format& format :
       {Format{"", "a.png", "-pix_fmt rgb24"}, Format{"", "b.png", "-pix_fmt pal8"}, Format{"", "c.png", "-pix_fmt rgba64be"},
        Format{"", "d.jpg", "-pix_fmt yuvj444p -q:v 1"}, Format{"", "e.jpg", "-pix_fmt yuvj420p -q:v 1"},
        Format{"", "f.jpg", "-pix_fmt yuvj440p -q:v 1"}, Format{"", "g.webp", "-c:v libwebp -q:v 100 -pix_fmt yuv420p"},
        Format{"", "h.bmp", "-pix_fmt bgr24"}, Format{"", "i.gif", ""}}) {
    MediaLimits limits{.imagePixels = 201 * 152};
    const auto source = FfmpegMediaOpener(limits).openSource(samples::image(samples::make(format.file, large + format.arguments)), {});
    EXPECT_EQ(source->notices(), (std::vector<MediaNotice>{{NoticeCode::kScaledDown, 401, 303}})) << format.file;
    EXPECT_EQ(source->info().widthPx, 201) << format.file;
    const RgbImage image = source->read(0, 1, {}).front().image;
    ASSERT_EQ(image.rgb.size(), expected.rgb.size()) << format.file;
    double apart = 0.0;
    for (std::size_t i = 0; i < image.rgb.size(); ++i) apart += std::abs(int{image.rgb[i]} - int{expected.rgb[i]});
    EXPECT_LT(apart / static_cast<double>(image.rgb.size()), 8.0) << format.file;
  }
}

TEST(StillImage, HalfTheSidesAreEnoughForEveryLegalPicture) {
  StillHeader header{.widthPx = 12'000, .heightPx = 9'000};
  EXPECT_EQ(deliveredSize(header, {}).width_px, 6'000);
  EXPECT_EQ(deliveredSize(header, {}).height_px, 4'500);
  header.widthPx = header.heightPx = 16'000;
  EXPECT_EQ(deliveredSize(header, {}).width_px, 8'000);
  header.orientation = Orientation::kRotate90;
  header.widthPx = header.heightPx = 8'000;
  EXPECT_EQ(deliveredSize(header, {}).height_px, 8'000) << "as it is";
}

TEST(StillImage, AttachmentsOfAPictureAreNotUnpacked) {
  // A compressed text of 16 MiB in a file of 16 kB: left out before the decoder sees the file.
  Bytes text{'k', 'e', 'y', 0, 0};
  const Bytes bomb = packed(Bytes(std::size_t{16} << 20, 0));
  text.insert(text.end(), bomb.begin(), bomb.end());
  const std::string file = samples::path("bomb.png");
  samples::writeBytes(file, samples::png(2, 1, packed({0, 10, 20}), samples::chunk("zTXt", text)));
  const MediaFile opened(file);
  const StillHeader header = readStillHeader(ContentType::kPng, opened.readRange(0, opened.sizeBytes()), file, {});
  EXPECT_LT(header.decodable.size(), 200u);
  EXPECT_EQ(samples::readImage(file).rgb, (Bytes{10, 10, 10, 20, 20, 20}));
}

TEST(StillImage, WrongChecksumIsDamage) {
  Bytes bytes = samples::png(2, 1, packed({0, 10, 20}));
  bytes[bytes.size() - 14] ^= 1;  // checksum of the pixels
  const std::string file = samples::path("a.png");
  samples::writeBytes(file, bytes);
  EXPECT_EQ(samples::errorOf(file).reason, "the picture is damaged and cannot be decoded");
}

TEST(StillImage, WhatFollowsThePictureIsLeftAlone) {
  const std::string file = samples::path("a.jpg");
  ffmpeg(std::string(kPicture) + file);
  const RgbImage plain = samples::readImage(file);
  Bytes bytes = samples::readBytes(file);
  for (const char c : std::string("PK\3\4<script>")) bytes.push_back(static_cast<std::uint8_t>(c));
  samples::writeBytes(file, bytes);
  EXPECT_EQ(samples::readImage(file).rgb, plain.rgb);
}

TEST(StillImage, IsAFrameSourceOfOneFrame) {
  const std::string file = samples::path("a.png");
  samples::writeBytes(file, samples::png(2, 1, packed({0, 10, 20})));
  const auto source = FfmpegMediaOpener().open(samples::image(file), {});
  EXPECT_EQ(source->kind(), MediaKind::kImage);
  EXPECT_EQ(source->frame_count(), 1);
  EXPECT_EQ(source->duration_s(), 0.0);
  EXPECT_EQ(source->content_hash().size(), 64u);
  EXPECT_THROW(source->read(1, 1, {}), Exception);
  InterruptSource stop;
  stop.request_stop();
  EXPECT_THROW(source->read(0, 1, stop.token()), Interrupted);
}

}  // namespace
}  // namespace winnow::app
