// HEIC and AVIF: quarters of red, green, blue and yellow, written by Pillow 13 and pillow-heif.
#include "app/media/files/heif_picture.h"

#include <gtest/gtest.h>

#include <QByteArray>

#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::Bytes;

// 16 x 16 of 64 x 64 that are stored, the rest is cut away by its "clap".
constexpr const char* kHeic =
    "0000001c6674797068656963000000006d696631686569636d6961660000017c6d657461000000000000002168646c720000000000000000"
    "706963740000000000000000000000000000000022696c6f63000000004440000100010000000001a0000100000000000000520000002369"
    "696e6600000000000100000015696e6665020000000001000068766331000000000e7069746d000000000001000000fc69707270000000dc"
    "6970636f00000075687663430103700000009000000000001ef000fcfdf8f800000f03600001001840010c01ffff03700000030090000003"
    "000003001eba0240610001002942010103700000030090000003000003001ea020810596eaae9ae6e021a0c08000000c8000000300846200"
    "0100064401c173c18900000013636f6c726e636c780001000d000680000000146973706500000000000000400000004000000028636c6170"
    "00000010000000010000001000000001ffffffd000000002ffffffd000000002000000107069786900000000030808080000001869706d61"
    "000000000000000100010581020305840000005a6d6461740000004e2801af1321a34c68e53236ff234f844f8b0d4a974cfe065ed616cd1f"
    "a10937c2fbae5a5e0eeae3fe76fb1666fd56ec34667fa76c93b3dd4ed7d1325f26b46e80e181850706c454a05016cfd5c2c0";
// 64 x 32, turned by "irot": 32 x 64.
constexpr const char* kTurnedAvif =
    "00000020667479706176696600000000617669666d6966316d6961664d413142000000f56d657461000000000000002168646c7200000000"
    "0000000070696374000000000000000000000000000000000e7069746d0000000000010000001e696c6f6300000000440000010001000000"
    "010000011d0000004c0000002869696e660000000000010000001a696e6665020000000001000061763031436f6c6f720000000074697072"
    "70000000546970636f0000001469737065000000000000004000000020000000107069786900000000030808080000000c6176314381000c"
    "0000000013636f6c726e636c780001000d0006800000000969726f74030000001869706d6100000000000000010001050102830485000000"
    "546d64617412000a0918153ffb4404341a10323d14c78786650208209e50000000ebb272b3427dc4821eda2341d9c9203fc170e60ac3dbd8"
    "dd938663ed06dd0dafc921a618a7093451a976cef2d2f2fe38";
// 64 x 32, its upper half cannot be seen.
constexpr const char* kTransparentAvif =
    "00000020667479706176696600000000617669666d6966316d6961664d413142000001866d657461000000000000002168646c7200000000"
    "0000000070696374000000000000000000000000000000000e7069746d0000000000010000002c696c6f6300000000440000020001000000"
    "01000001cd0000004c000200000001000001ae0000001f0000004269696e660000000000020000001a696e66650200000000010000617630"
    "31436f6c6f72000000001a696e6665020000000002000061763031416c706861000000001a69726566000000000000000e6175786c000200"
    "010001000000c3697072700000009d6970636f00000014697370650000000000000040000000200000001070697869000000000308080800"
    "00000c6176314381000c0000000013636f6c726e636c780001000d0006800000000e706978690000000001080000000c6176314381001c00"
    "00000038617578430000000075726e3a6d7065673a6d706567423a636963703a73797374656d733a617578696c696172793a616c70686100"
    "0000001e69706d6100000000000000020001040102830400020401058607000000736d64617412000a0618153ffb0a80321314000c3100e9"
    "4d5ca092b02c391426dc8843c012000a0918153ffb4404341a10323d14c78786650208209e50000000ebb272b3427dc4821eda2341d9c920"
    "3fc170e60ac3dbd8dd938663ed06dd0dafc921a618a7093451a976cef2d2f2fe38";

Bytes bytesOf(const char* hex) {
  const QByteArray bytes = QByteArray::fromHex(hex);
  return Bytes(bytes.begin(), bytes.end());
}

std::string written(const char* name, const Bytes& bytes) {
  std::string file = samples::path(name);
  samples::writeBytes(file, bytes);
  return file;
}

// The quarters, row by row.
std::string quartersOf(const RgbImage& image) {
  std::string found;
  for (const int y : {image.height_px / 4, 3 * image.height_px / 4}) {
    for (const int x : {image.width_px / 4, 3 * image.width_px / 4}) {
      const std::uint8_t* const pixel = image.rgb.data() + (std::ptrdiff_t{y} * image.width_px + x) * 3;
      const bool red = pixel[0] > 140, green = pixel[1] > 140, blue = pixel[2] > 140;
      found += red && green && blue ? 'W' : red && green ? 'Y' : red ? 'R' : green ? 'G' : blue ? 'B' : '?';
    }
  }
  return found;
}

TEST(HeifPicture, ShowsHeicAndAvifUpright) {
  const RgbImage heic = samples::readImage(written("a.heic", bytesOf(kHeic)));
  EXPECT_EQ(heic.width_px, 16);
  EXPECT_EQ(heic.height_px, 16);
  EXPECT_EQ(quartersOf(heic), "RGBY");
  const auto turned = FfmpegMediaOpener().openSource(samples::image(written("a.avif", bytesOf(kTurnedAvif))), {});
  EXPECT_EQ(turned->info().widthPx, 32);
  EXPECT_EQ(turned->info().heightPx, 64);
  EXPECT_EQ(turned->info().container, "avif");
  EXPECT_EQ(quartersOf(turned->read(0, 1, {}).front().image), "BRYG");
  EXPECT_TRUE(turned->notices().empty());
  EXPECT_EQ(quartersOf(samples::readImage(written("b.avif", bytesOf(kTransparentAvif)))), "WWBY") << "on white";
}

TEST(HeifPicture, LargeOnesAreReadSmall) {
  MediaLimits limits{.imagePixels = 32 * 64 / 3};
  const auto source = FfmpegMediaOpener(limits).openSource(samples::image(written("a.avif", bytesOf(kTurnedAvif))), {});
  EXPECT_EQ(source->notices(), (std::vector<MediaNotice>{{NoticeCode::kScaledDown, 32, 64}}));
  const RgbImage image = source->read(0, 1, {}).front().image;
  EXPECT_EQ(image.width_px, 16);
  EXPECT_EQ(image.height_px, 32);
  EXPECT_EQ(quartersOf(image), "BRYG");
}

TEST(HeifPicture, CutOrEmptyOnesAreNamed) {
  const Bytes whole = bytesOf(kHeic);
  for (std::size_t length = 32; length < whole.size(); length += 7) {
    const Error error = samples::errorOf(written("cut.heic", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))));
    EXPECT_EQ(error.code, ErrorCode::kDamagedFile) << length << ": " << error.reason;
    EXPECT_TRUE(error.reason.starts_with("the HEIC picture is damaged and cannot be decoded (")) << error.reason;
  }
  Bytes empty = bytesOf("00000018667479706865696300000000");
  empty.resize(224);
  EXPECT_TRUE(samples::errorOf(written("empty.heic", empty)).reason.find("HEIC") != std::string::npos);
}

TEST(HeifPicture, SequencesAreToldByTheirBrand) {
  EXPECT_FALSE(isHeifSequence(bytesOf(kHeic)));
  Bytes sequence = bytesOf(kTurnedAvif);
  sequence[11] = 's';
  EXPECT_TRUE(isHeifSequence(sequence));
}

}  // namespace
}  // namespace winnow::app
