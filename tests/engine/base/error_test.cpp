#include "engine/base/error.h"

#include <gtest/gtest.h>

#include <new>
#include <system_error>

#include "engine/base/known_format.h"

namespace winnow {
namespace {

using namespace std::string_literals;

template <typename Thrown>
Error handled(const Thrown& thrown) {
  try {
    throw thrown;
  } catch (...) {
    return current_error("clip.mp4");
  }
}

TEST(CurrentError, KeepsWhatAnExceptionSays) {
  const Error error = handled(Exception(ErrorCode::kDamagedFile, "a.png", "it ends early"));
  EXPECT_EQ(error.code, ErrorCode::kDamagedFile);
  EXPECT_EQ(error.subject, "a.png");
  EXPECT_EQ(error.reason, "it ends early");
}

TEST(CurrentError, NamesTheSubjectWhereTheExceptionHasNone) {
  EXPECT_EQ(handled(std::bad_alloc()).code, ErrorCode::kOutOfMemory);
  EXPECT_EQ(handled(std::bad_alloc()).subject, "clip.mp4");
  const Error error = handled(std::runtime_error("stoi"));
  EXPECT_EQ(error.code, ErrorCode::kInternal);
  EXPECT_EQ(error.subject, "clip.mp4");
  EXPECT_EQ(error.reason, "stoi");
  EXPECT_EQ(handled(42).code, ErrorCode::kInternal);
  EXPECT_FALSE(handled(42).reason.empty());
}

TEST(CurrentError, AThreadWithoutAStackIsWantOfMemory) {
  const auto code_of = [](std::errc cause) { return handled(std::system_error(std::make_error_code(cause))).code; };
  EXPECT_EQ(code_of(std::errc::resource_unavailable_try_again), ErrorCode::kOutOfMemory);
  EXPECT_EQ(code_of(std::errc::not_enough_memory), ErrorCode::kOutOfMemory);
  EXPECT_EQ(code_of(std::errc::io_error), ErrorCode::kInternal);
}

TEST(ErrorCode, StorageHasSeveral) {
  for (const ErrorCode code : {ErrorCode::kStorage, ErrorCode::kStorageDamaged, ErrorCode::kStorageNewer, ErrorCode::kStorageInUse,
                               ErrorCode::kStorageReadOnly, ErrorCode::kStorageFull})
    EXPECT_TRUE(is_storage(code)) << static_cast<int>(code);
  EXPECT_FALSE(is_storage(ErrorCode::kInternal));
  EXPECT_FALSE(is_storage(ErrorCode::kIllegalRecipe));
}

std::string name_of(const std::string& head) {
  const KnownFormat* format = known_format(std::as_bytes(std::span(head)));
  return format != nullptr ? format->name : "";
}

TEST(KnownFormat, NamesWhatLiesInAModelsPlace) {
  EXPECT_EQ(name_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"), "a Git LFS pointer");
  for (const char* page : {"<!DOCTYPE html><html>", "\n  <HTML lang=en>", "\xEF\xBB\xBF<html>"}) EXPECT_EQ(name_of(page), "a web page");
  EXPECT_EQ(name_of("<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"), "an XML text");
  EXPECT_EQ(name_of("PK\3\4\x14\0\0\0"s), "a ZIP archive");
  EXPECT_EQ(name_of("\x1F\x8B\x08"), "a gzip archive");
  EXPECT_EQ(name_of("7z\xBC\xAF\x27\x1C"), "a 7z archive");
  EXPECT_EQ(name_of("Rar!\x1A\x07\x01"), "a RAR archive");
  EXPECT_EQ(name_of("\xFD\x37zXZ\0"s), "an xz archive");
  EXPECT_EQ(name_of("model/config.json" + std::string(240, '\0') + "ustar\0"s + "00"), "a tar archive");
  EXPECT_EQ(name_of("\x80\x02}q"), "a Python pickle (PyTorch weights)");
  const std::string archive = "PK\3\4"s + std::string(26, '\0');
  EXPECT_EQ(name_of(archive + "[Content_Types].xml"), "a document of Word, Excel or PowerPoint (docx, xlsx, pptx)");
  EXPECT_EQ(name_of(archive + "mimetypeapplication/vnd.oasis.opendocument.text"), "a document of LibreOffice (odt, ods, odp)");
  EXPECT_EQ(name_of(archive + "mimetypeapplication/epub+zip"), "an EPUB book");
  EXPECT_EQ(name_of(archive + "word.txt"), "a ZIP archive");
  EXPECT_EQ(name_of("{\\rtf1\\ansi"s), "an RTF document");
  EXPECT_EQ(name_of(archive + "archive/data.pkl"), "PyTorch weights (a pickle in a ZIP archive)");
  EXPECT_EQ(name_of("\x08\x07\x12\x07pytorch\x1A"), "an ONNX model");
  EXPECT_EQ(name_of("lmgg"), "a GGML file of before 2023");
  EXPECT_EQ(name_of("tjgg\1"), "a GGJT file of before GGUF");
  EXPECT_EQ(name_of("GGUF\3"), "a GGUF file");
  EXPECT_EQ(name_of("\x89HDF\r\n\x1A\n"), "an HDF5 file (TensorFlow or Keras weights)");
  EXPECT_EQ(name_of("\0\0\0\x18"s + "ftypisom"), "an MP4 or QuickTime video");
}

TEST(KnownFormat, SaysNothingOfTheRest) {
  for (const std::string& head : {""s, "x"s, "Just words.\n"s, "{\"a\": 1}"s, "\x08\x07"s, "\x08\x07\x12\x03\1\2\3"s, "\x80\x09"s})
    EXPECT_EQ(name_of(head), "") << head;
}

std::string unfetched_reason(const std::string& head) {
  const auto error = unfetched(std::as_bytes(std::span(head)), "f");
  return error ? error->reason : "";
}

TEST(KnownFormat, TellsWhatWasNotFetchedFromWhatIsOnlyForeign) {
  EXPECT_NE(unfetched_reason("").find("empty"), std::string::npos);
  EXPECT_NE(unfetched_reason("version https://git-lfs.github.com/spec/v1\n").find("git lfs pull"), std::string::npos);
  EXPECT_NE(unfetched_reason("<html>").find("log in"), std::string::npos);
  EXPECT_NE(unfetched_reason(std::string(64, '\0')).find("unfinished download"), std::string::npos);
  EXPECT_EQ(unfetched_reason("PK\3\4\x14"), "") << "an archive was fetched whole";
  EXPECT_EQ(unfetched_reason("\0\0\1"s), "");
}

}  // namespace
}  // namespace winnow
