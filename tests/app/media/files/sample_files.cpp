#include "tests/app/media/files/sample_files.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "app/media/process/process_media_reader.h"
#include "tests/support/scratch_folder.h"

namespace winnow::app::samples {
namespace {

std::uint32_t crc32(const Bytes& bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

void appendBe32(Bytes& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<std::uint8_t>(value >> shift));
}

}  // namespace

std::string path(const std::string& name) {
  static const test::ScratchFolder folder;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto own = std::filesystem::path(folder.path()) / (std::string(test->test_suite_name()) + "." + test->name());
  std::filesystem::create_directories(own);
  return (own / name).string();
}

void ffmpeg(const std::string& arguments) {
  const std::string command = std::string(WINNOW_FFMPEG) + " -nostdin -v error -y " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("ffmpeg cannot be started");
  std::string output;
  std::array<char, 512> block{};
  while (std::fgets(block.data(), block.size(), pipe) != nullptr) output += block.data();
  if (::pclose(pipe) != 0) throw std::runtime_error(command + "\n" + output);
}

std::string make(const std::string& name, const std::string& arguments) {
  const std::string file = path(name);
  ffmpeg(arguments + " " + file);
  return file;
}

std::string numbered(int frames, int fps) {
  return "-f lavfi -i \"nullsrc=s=64x48:r=" + std::to_string(fps) +
         ",geq=lum='16+219*mod(floor(N/pow(2,floor(X/8))),2)':cb=128:cr=128,format=yuv420p\" -frames:v " + std::to_string(frames);
}

int numberIn(const RgbImage& image) {
  int number = 0;
  for (int bit = 0; bit < 8; ++bit) {
    const int x = (2 * bit + 1) * image.width_px / 16;
    const std::size_t at =
        (static_cast<std::size_t>(image.height_px / 2) * static_cast<std::size_t>(image.width_px) + static_cast<std::size_t>(x)) * 3;
    if (image.rgb.at(at + 1) > 127) number |= 1 << bit;
  }
  return number;
}

Bytes readBytes(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + file);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

void writeBytes(const std::string& file, const Bytes& bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out) throw std::runtime_error("cannot write " + file);
}

void writeText(const std::string& file, const std::string& text) { writeBytes(file, Bytes(text.begin(), text.end())); }

MediaRequest video(const std::string& file, int frames) {
  return {.path = file, .kind = MediaKind::kVideo, .plan = {.frame_count = frames}};
}

MediaRequest videoEvery(const std::string& file, double stepS) {
  MediaRequest request = video(file, 0);
  request.plan.every_s = stepS;
  return request;
}

MediaRequest image(const std::string& file) { return {.path = file, .kind = MediaKind::kImage}; }

std::unique_ptr<VideoFrameSource> openVideo(const MediaRequest& request, const MediaLimits& limits) {
  auto source = FfmpegMediaOpener(limits).openSource(request, {});
  auto* video = dynamic_cast<VideoFrameSource*>(source.get());
  if (video == nullptr) throw std::runtime_error("not a video source");
  source.release();
  return std::unique_ptr<VideoFrameSource>(video);
}

RgbImage firstFrame(const std::string& file) { return std::move(openVideo(video(file, 1))->read(0, 1, {}).front().image); }

RgbImage readImage(const std::string& file) {
  return std::move(FfmpegMediaOpener().openSource(image(file), {})->read(0, 1, {}).front().image);
}

std::unique_ptr<MediaReader> reader(const MediaLimits& limits) {
  const char* const where = std::getenv("WINNOW_TEST_MEDIA");
  if (where == nullptr || std::string(where) != "process") return std::make_unique<FfmpegMediaOpener>(limits);
  MediaProcessSettings settings{.limits = limits};
  return std::make_unique<ProcessMediaReader>(std::move(settings));
}

Error errorOf(const std::string& file, const MediaLimits& limits) {
  const auto media = reader(limits);
  try {
    MediaRequest request = video(file, 8);
    request.kind = media->detectKind(file);
    const auto source = media->openSource(request, {});
    source->read(0, source->frame_count(), {});
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << file << " was read without an error";
  return {};
}

Bytes chunk(const std::string& type, const Bytes& body) {
  Bytes typed(type.begin(), type.end());
  typed.insert(typed.end(), body.begin(), body.end());
  Bytes bytes;
  appendBe32(bytes, static_cast<std::uint32_t>(body.size()));
  bytes.insert(bytes.end(), typed.begin(), typed.end());
  appendBe32(bytes, crc32(typed));
  return bytes;
}

Bytes png(std::uint32_t width, std::uint32_t height, const Bytes& packed, const Bytes& extraChunk) {
  Bytes header;
  appendBe32(header, width);
  appendBe32(header, height);
  header.insert(header.end(), {8, 0, 0, 0, 0});
  Bytes file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  for (const Bytes& part : {chunk("IHDR", header), extraChunk, chunk("IDAT", packed), chunk("IEND", {})}) {
    file.insert(file.end(), part.begin(), part.end());
  }
  return file;
}

}  // namespace winnow::app::samples
