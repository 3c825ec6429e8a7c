// Sample files for the tests of app/media/files: a scratch folder, the ffmpeg program, videos whose pictures carry their own number.
//
// A numbered frame is 64 x 48 grey; each of its eight columns of 8 px is white or black: the bits of (frame number mod 256), lowest
// left. They survive any codec, so a test can say which frame it got.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/media/files/media_opener.h"
#include "app/media/files/video_frame_source.h"
#include "engine/base/error.h"
#include "engine/media/frame_source.h"

namespace winnow::app::samples {

using Bytes = std::vector<std::uint8_t>;

// A folder that lives as long as the test program; every test gets one of its own.
std::string path(const std::string& name);
// Runs ffmpeg with the arguments (a shell line without the program's name); throws with its output when it fails.
void ffmpeg(const std::string& arguments);
// Has ffmpeg write the file `name` of this test; its path.
std::string make(const std::string& name, const std::string& arguments);
// lavfi source of numbered frames: "-f lavfi -i ..." for `frames` frames at `fps`.
std::string numbered(int frames, int fps);
int numberIn(const RgbImage& image);

Bytes readBytes(const std::string& file);
void writeBytes(const std::string& file, const Bytes& bytes);
void writeText(const std::string& file, const std::string& text);

MediaRequest video(const std::string& file, int frames);
MediaRequest videoEvery(const std::string& file, double stepS);
MediaRequest image(const std::string& file);
std::unique_ptr<VideoFrameSource> openVideo(const MediaRequest& request, const MediaLimits& limits = {});
RgbImage firstFrame(const std::string& file);  // of a video asked for one
RgbImage readImage(const std::string& file);
// In this program, or in the media process where the environment has WINNOW_TEST_MEDIA=process, for tests that run once with each.
std::unique_ptr<MediaReader> reader(const MediaLimits& limits = {});

// The error of opening the file as what it is (or as a video when that cannot be told) and reading all of its frames; fails the test when
// there is none.
Error errorOf(const std::string& file, const MediaLimits& limits = {});

// A minimal PNG: 8-bit grey, rows as given by zlib-compressed `packed`.
Bytes png(std::uint32_t width, std::uint32_t height, const Bytes& packed, const Bytes& extraChunk = {});
Bytes chunk(const std::string& type, const Bytes& body);

}  // namespace winnow::app::samples
