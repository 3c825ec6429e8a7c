// Colours of videos: known flat colours through every range and matrix, and detail against the ffmpeg program's own conversion.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::ffmpeg;

struct Colour {
  const char* name;
  const char* filter;  // how the RGB source becomes YUV
  const char* flags;   // what the file says about it
};
void PrintTo(const Colour& colour, std::ostream* out) { *out << colour.name; }

class VideoColour : public ::testing::TestWithParam<Colour> {};

TEST_P(VideoColour, FlatColoursComeBack) {
  const std::string file = samples::path("a.mp4");
  constexpr int kWanted[3] = {200, 60, 30};
  ffmpeg(std::string("-f lavfi -i color=0xC83C1E:s=64x48:r=5,format=rgb24,") + GetParam().filter + " -frames:v 3 -c:v libx264 -qp 1 " +
         GetParam().flags + " " + file);
  const RgbImage image = samples::firstFrame(file);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    EXPECT_NEAR(image.rgb[channel], kWanted[channel], 3) << "channel " << channel;
    EXPECT_NEAR(image.rgb[image.rgb.size() - 3 + channel], kWanted[channel], 3) << "channel " << channel;
  }
}

INSTANTIATE_TEST_SUITE_P(
    RangesAndMatrices, VideoColour,
    ::testing::Values(
        Colour{"Bt601Limited", "scale=out_color_matrix=bt601:out_range=tv,format=yuv420p", "-colorspace smpte170m -color_range tv"},
        Colour{"Bt601Full", "scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p", "-colorspace smpte170m -color_range pc"},
        Colour{"Bt709Limited", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p", "-colorspace bt709 -color_range tv"},
        Colour{"Bt709Full", "scale=out_color_matrix=bt709:out_range=pc,format=yuvj420p", "-colorspace bt709 -color_range pc"},
        Colour{"Bt2020TenBit", "scale=out_color_matrix=bt2020:out_range=tv,format=yuv420p10le", "-colorspace bt2020nc -color_range tv"},
        Colour{"UnmarkedSmallIsBt601", "scale=out_color_matrix=bt601:out_range=tv,format=yuv420p", ""},
        Colour{"FullChroma", "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p", "-colorspace bt709 -color_range tv"}),
    [](const ::testing::TestParamInfo<Colour>& info) { return info.param.name; });

TEST(VideoColourFallback, UnmarkedHighDefinitionIsBt709) {
  const std::string file = samples::make(
      "a.mp4",
      "-f lavfi -i color=0xC83C1E:s=1280x720:r=5,format=rgb24,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p -frames:v 1 "
      "-c:v libx264 -preset ultrafast -qp 1");
  const RgbImage image = samples::firstFrame(file);
  EXPECT_NEAR(image.rgb[0], 200, 3);
  EXPECT_NEAR(image.rgb[1], 60, 3);
}

// As players take it: films of wide screens have few lines.
TEST(VideoColourFallback, WhatIsLargerThanTelevisionIsBt709) {
  for (const auto& [size, matrix] : {std::pair{"1280x534", "bt709"}, {"960x600", "bt709"}, {"1024x576", "bt601"}, {"640x480", "bt601"}}) {
    const std::string file =
        samples::make(std::string(size) + ".mp4", std::string("-f lavfi -i color=0xC83C1E:s=") + size +
                                                      ":r=5,format=yuv420p -frames:v 1 -c:v libx264 -preset ultrafast");
    EXPECT_EQ(FfmpegMediaOpener().probe(file).colourMatrix, matrix) << size;
  }
}

TEST(VideoColourFallback, DetailAndOddSizesMatchTheFfmpegProgram) {
  for (const char* size : {"63x47", "65x49", "1x1", "2x3"}) {
    const std::string file = samples::make(
        std::string(size) + ".mkv", std::string("-f lavfi -i testsrc=s=") + size + ":r=5 -frames:v 1 -c:v mjpeg -q:v 2 -pix_fmt yuvj420p");
    const std::string raw =
        samples::make(std::string(size) + ".rgb",
                      "-i " + file + " -vf scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp -pix_fmt rgb24 -f rawvideo");
    const RgbImage image = samples::firstFrame(file);
    const samples::Bytes wanted = samples::readBytes(raw);
    ASSERT_EQ(image.rgb.size(), wanted.size()) << size;
    int largest = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) largest = std::max(largest, std::abs(int{image.rgb[i]} - int{wanted[i]}));
    EXPECT_LE(largest, 2) << size;
  }
}

TEST(VideoColourFallback, TransparentVideoLiesOnWhite) {
  const std::string file = samples::make(
      "a.mov", "-f lavfi -i color=black@0:s=64x48:r=5,format=yuva444p10le -frames:v 2 -c:v prores_ks -profile:v 4 -alpha_bits 8");
  const RgbImage image = samples::firstFrame(file);
  EXPECT_EQ(image.rgb, samples::Bytes(std::size_t{64} * 48 * 3, 255));
}

}  // namespace
}  // namespace winnow::app
