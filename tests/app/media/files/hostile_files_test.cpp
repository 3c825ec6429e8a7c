// Files made to mislead or to break a reader. Each gets a clear error; none makes the program open anything else.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::Bytes;
using samples::ffmpeg;
using samples::numbered;

void expectError(const std::string& file, ErrorCode code, const std::string& reason) {
  const Error error = samples::errorOf(file);
  EXPECT_EQ(error.code, code) << file;
  EXPECT_EQ(error.reason, reason) << file;
  EXPECT_EQ(error.subject, file);
}

TEST(HostileFiles, TextUnderTheNameOfAVideo) {
  const std::string file = samples::path("notes.mp4");
  samples::writeText(file, "Dear diary, this is not a film.\n");
  expectError(file, ErrorCode::kUnsupportedFormat, "this is a text file, not an image or a video");
}

TEST(HostileFiles, EmptyFile) {
  const std::string file = samples::path("empty.mp4");
  samples::writeBytes(file, {});
  expectError(file, ErrorCode::kEmptyFile, "the file is empty");
}

TEST(HostileFiles, PlaylistsThatPointAtOtherFiles) {
  const std::string target = samples::make("target.mp4", numbered(5, 5) + " -c:v libx264");
  const std::string file = samples::path("list.mp4");
  samples::writeText(file, "#EXTM3U\n#EXTINF:1,\nfile://" + target + "\n#EXT-X-ENDLIST\n");
  expectError(file, ErrorCode::kUnsupportedFormat, "this is a playlist (HLS), not a video");
  samples::writeText(file, "ffconcat version 1.0\nfile '" + target + "'\n");
  expectError(file, ErrorCode::kUnsupportedFormat, "this is a playlist (ffconcat), not a video");
  samples::writeText(file, "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n");
  expectError(file, ErrorCode::kUnsupportedFormat, "this is a stream description (SDP), not a video");
}

TEST(HostileFiles, NamesAreTakenLiterally) {
  const std::string real = samples::make("real.mp4", numbered(4, 4) + " -c:v libx264 -preset ultrafast");
  const auto start = std::filesystem::current_path();
  const auto reader = samples::reader();
  std::filesystem::current_path(std::filesystem::path(real).parent_path());
  for (const char* name : {"img%03d.mp4", "pipe:0", "http:x", "concat:a|b", "-i", "file:real.mp4", "data:video", "a b\n\xFF.mp4"}) {
    EXPECT_EQ(samples::errorOf(name).code, ErrorCode::kFileNotFound) << name;
    std::filesystem::copy_file(real, name);
    const auto source = reader->openSource(samples::video(name, 2), {});
    EXPECT_EQ(source->read(0, 2, {}).size(), 2u) << name;
    std::filesystem::remove(name);
  }
  std::filesystem::current_path(start);
}

TEST(HostileFiles, Mp4WithoutItsEnd) {
  const std::string whole = samples::make("whole.mp4", numbered(60, 10) + " -c:v libx264 -preset ultrafast");
  Bytes bytes = samples::readBytes(whole);
  bytes.resize(bytes.size() / 2);
  const std::string file = samples::path("cut.mp4");
  samples::writeBytes(file, bytes);
  expectError(file, ErrorCode::kDamagedFile, "the end of the file is missing (no index)");
}

TEST(HostileFiles, NoVideoInside) {
  const std::string sound = samples::make("sound.mp4", "-f lavfi -i sine=d=1 -c:a aac");
  expectError(sound, ErrorCode::kUnsupportedFormat, "it contains no video");
  const std::string cover = samples::make("cover.png", "-f lavfi -i color=red:s=16x16 -frames:v 1");
  const std::string covered =
      samples::make("covered.mp4", "-i " + sound + " -i " + cover + " -map 0 -map 1 -c copy -disposition:v:0 attached_pic");
  expectError(covered, ErrorCode::kUnsupportedFormat, "it contains no video, only sound and a cover picture");
}

TEST(HostileFiles, CodecsOutsideTheList) {
  for (const char* codec : {"magicyuv", "ffv1", "cinepak"}) {
    const std::string file = samples::make(std::string(codec) + ".mkv", numbered(5, 25) + " -c:v " + codec);
    expectError(file, ErrorCode::kUnsupportedFormat, std::string("its video codec (") + codec + ") is not supported; " + kConvertVideo);
  }
}

TEST(HostileFiles, EncryptedVideo) {
  const std::string file =
      samples::make("secret.mp4", numbered(10, 5) +
                                      " -c:v libx264 -encryption_scheme cenc-aes-ctr -encryption_key 76a6c65c5ea762046bd749a2e632ccbb "
                                      "-encryption_kid a7e61c373e219033c21091fa607bf3b8");
  expectError(file, ErrorCode::kUnsupportedFormat, "the video is encrypted");
}

TEST(HostileFiles, ProtectedWindowsMedia) {
  const std::string file = samples::make("a.wmv", numbered(10, 5) + " -c:v wmv2");
  Bytes bytes = samples::readBytes(file);
  const Bytes mark{0xFB, 0xB3, 0x11, 0x22, 0x23, 0xBD, 0xD2, 0x11, 0xB4, 0xB7, 0x00, 0xA0, 0xC9, 0x55, 0xFC, 0x6E};
  std::ranges::copy(mark, bytes.begin() + 30);  // in place of the first object's name
  samples::writeBytes(file, bytes);
  expectError(file, ErrorCode::kUnsupportedFormat, "the video is encrypted");
}

TEST(HostileFiles, TooManyStreams) {
  const std::string one = samples::make("one.mkv", numbered(2, 5) + " -c:v libx264 -preset ultrafast");
  std::string maps;
  for (int i = 0; i < 40; ++i) maps += " -map 0:v";
  const std::string many = samples::make("many.mkv", "-i " + one + maps + " -c copy");
  EXPECT_EQ(samples::errorOf(many).code, ErrorCode::kLimitExceeded);
}

TEST(HostileFiles, FrameLargerThanTheLimit) {
  const std::string file = samples::make("a.mp4", numbered(2, 5) + " -c:v libx264 -preset ultrafast");
  MediaLimits limits{.videoFramePixels = 64 * 48 - 1};
  const Error error = samples::errorOf(file, limits);
  EXPECT_EQ(error.code, ErrorCode::kLimitExceeded);
  EXPECT_TRUE(error.reason.starts_with("its frames of 64 x 48 pixels are larger than the limit")) << error.reason;
}

TEST(HostileFiles, FormatsThatAreNeverDecoded) {
  const std::string tiff = samples::make("a.png", "-f lavfi -i color=red:s=16x16 -frames:v 1 -c:v tiff -f image2 -update 1");
  expectError(tiff, ErrorCode::kUnsupportedFormat,
              "this is a TIFF picture, which is not supported; save it as PNG or JPEG, where it opens or by: ffmpeg -i FILE NEW.png");
  const std::string svg = samples::path("b.png");
  samples::writeText(svg,
                     "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><image href=\"file:///etc/hostname\"/></svg>\n");
  expectError(svg, ErrorCode::kUnsupportedFormat,
              "this is an SVG drawing, which is not supported; save it as PNG, where it opens or by: rsvg-convert FILE -o NEW.png");
}

TEST(HostileFiles, DamagedMiddleIsBridgedWithANotice) {
  const std::string file = samples::make("a.mp4", numbered(150, 10) + " -c:v libx264 -preset ultrafast -g 10 -movflags +faststart");
  Bytes bytes = samples::readBytes(file);
  const std::string tag = "mdat";
  const auto data = std::search(bytes.begin(), bytes.end(), tag.begin(), tag.end()) + 4;
  const auto length = bytes.end() - data;
  std::fill(data + length * 2 / 5, data + length * 3 / 5, std::uint8_t{0});
  samples::writeBytes(file, bytes);
  const auto source = samples::reader()->openSource(samples::video(file, 10), {});
  const auto frames = source->read(0, 10, {});
  ASSERT_EQ(frames.size(), 10u);
  EXPECT_FALSE(source->notices().empty());
  EXPECT_EQ(samples::numberIn(frames.front().image), 7);
  EXPECT_EQ(samples::numberIn(frames.back().image), 142);
  EXPECT_TRUE(std::is_sorted(frames.begin(), frames.end(), [](const auto& a, const auto& b) { return a.actual_s < b.actual_s; }));
}

// Nothing can be decoded where the video begins: a picture that came out on the way back was handed on after it had been given away.
TEST(HostileFiles, ADamagedBeginningShowsTheNextPictureThatIsThere) {
  const std::string file = samples::make("a.flv", numbered(40, 10) + " -c:v flv -q:v 2 -g 10");
  Bytes bytes = samples::readBytes(file);
  constexpr std::size_t kTagHead = 11;
  int zeroed = 0;
  for (std::size_t at = 13; at + kTagHead < bytes.size() && zeroed < 11;) {
    const std::size_t size = std::size_t{bytes[at + 1]} << 16 | std::size_t{bytes[at + 2]} << 8 | bytes[at + 3];
    if (bytes[at] == 9 && ++zeroed > 0)
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + kTagHead + 1), size - 1, std::uint8_t{0});
    at += kTagHead + size + 4;
  }
  samples::writeBytes(file, bytes);
  const auto source = samples::reader()->openSource(samples::videoEvery(file, 0.3), {});
  const auto frames = source->read(0, source->frame_count(), {});
  ASSERT_FALSE(frames.empty());
  EXPECT_EQ(samples::numberIn(frames.back().image), 39);
  EXPECT_FALSE(source->notices().empty());
}

// Any outcome is right but a crash, a hang or an error without a sentence.
TEST(HostileFiles, FlippedBitsNeverCrash) {
  struct Sample {
    const char* name;
    const char* arguments;
    int mutations;
  };
  constexpr unsigned kSeed = 20'261;
  std::mt19937 random(kSeed);
  int answered = 0;
  int refused = 0;
  for (const Sample& sample :
       {Sample{"a.mp4", "-c:v libx264 -preset ultrafast -g 5", 120}, Sample{"a.webm", "-c:v libvpx -deadline realtime -g 5", 100},
        Sample{"a.ts", "-c:v libx264 -preset ultrafast -g 5", 40}, Sample{"a.avi", "-c:v mpeg4 -g 5", 40},
        Sample{"a.mpg", "-r 25 -c:v mpeg2video -g 5", 40}, Sample{"a.flv", "-c:v flv -g 5", 40}, Sample{"a.ogv", "-c:v libtheora -g 5", 40},
        Sample{"a.wmv", "-c:v wmv2 -g 5", 40}, Sample{"b.avi", "-c:v msmpeg4v3 -g 5", 20}, Sample{"a.3gp", "-s 128x96 -c:v h263 -g 5", 20},
        Sample{"a.png", "-frames:v 1", 60}, Sample{"a.jpg", "-frames:v 1 -q:v 3", 80}, Sample{"a.gif", "-frames:v 1", 40},
        Sample{"b.webp", "-frames:v 1 -c:v libwebp", 40}, Sample{"a.bmp", "-frames:v 1", 20}}) {
    const std::string original = samples::make(std::string("original_") + sample.name, numbered(20, 10) + " " + sample.arguments);
    const Bytes bytes = samples::readBytes(original);
    const std::string file = samples::path(sample.name);
    MediaLimits limits{.decodeBudgetMs = 10'000};
    const auto reader = samples::reader(limits);
    for (int mutation = 0; mutation < sample.mutations; ++mutation) {
      Bytes mutated = bytes;
      const std::size_t flips = 1 + random() % 16;
      // Half of the mutations go into the first kilobyte, where the sizes and counts are.
      const std::size_t range = mutation % 2 == 0 ? mutated.size() : std::min<std::size_t>(mutated.size(), 1024);
      for (std::size_t i = 0; i < flips; ++i) mutated[random() % range] ^= static_cast<std::uint8_t>(1U << random() % 8);
      samples::writeBytes(file, mutated);
      try {
        MediaRequest request = samples::video(file, 4);
        request.kind = reader->detectKind(file);
        const auto source = reader->openSource(request, {});
        for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) {
          ASSERT_EQ(frame.image.rgb.size(),
                    static_cast<std::size_t>(frame.image.width_px) * static_cast<std::size_t>(frame.image.height_px) * 3);
        }
        ++answered;
      } catch (const Exception& exception) {
        EXPECT_FALSE(exception.error().reason.empty());
        EXPECT_NE(exception.error().code, ErrorCode::kInternal) << exception.what();
        ++refused;
      }
    }
  }
  EXPECT_GT(answered, 50) << "the mutations should not all be fatal";
  EXPECT_GT(refused, 50) << "nor all harmless";
}

}  // namespace
}  // namespace winnow::app
