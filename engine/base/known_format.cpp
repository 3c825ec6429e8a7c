#include "engine/base/known_format.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace winnow {
namespace {

using namespace std::string_view_literals;

struct Row {
  std::size_t offset;
  std::string_view magic;
  KnownFormat format;
};

// Longer ones before shorter ones that they begin with.
constexpr Row kRows[] = {
    {0, "version https://git-lfs.github.com/spec/"sv, {FormatKind::kPointer, "a Git LFS pointer"}},
    {0, "version https://hawser.github.com/spec/"sv, {FormatKind::kPointer, "a Git LFS pointer"}},
    {0, "GGUF"sv, {FormatKind::kGguf, "a GGUF file"}},
    {0, "lmgg"sv, {FormatKind::kOldGguf, "a GGML file of before 2023"}},
    {0, "fmgg"sv, {FormatKind::kOldGguf, "a GGMF file of before GGUF"}},
    {0, "tjgg"sv, {FormatKind::kOldGguf, "a GGJT file of before GGUF"}},
    {0, "algg"sv, {FormatKind::kOldGguf, "a GGLA adapter of before GGUF"}},
    {0, "\x89HDF\r\n\x1A\n"sv, {FormatKind::kWeights, "an HDF5 file (TensorFlow or Keras weights)"}},
    {4, "TFL3"sv, {FormatKind::kWeights, "a TensorFlow Lite model"}},
    {0, "\x93NUMPY"sv, {FormatKind::kWeights, "a NumPy array"}},
    {0, "7z\xBC\xAF\x27\x1C"sv, {FormatKind::kArchive, "a 7z archive"}},
    {0, "Rar!\x1A\x07"sv, {FormatKind::kArchive, "a RAR archive"}},
    {0, "PK\3\4"sv, {FormatKind::kArchive, "a ZIP archive"}},
    {0, "PK\5\6"sv, {FormatKind::kArchive, "an empty ZIP archive"}},
    {0, "\x1F\x8B"sv, {FormatKind::kArchive, "a gzip archive"}},
    {0, "BZh"sv, {FormatKind::kArchive, "a bzip2 archive"}},
    {0,
     "\xFD"
     "7zXZ\0"sv,
     {FormatKind::kArchive, "an xz archive"}},
    {0, "\x28\xB5\x2F\xFD"sv, {FormatKind::kArchive, "a Zstandard archive"}},
    {0, "\x04\x22\x4D\x18"sv, {FormatKind::kArchive, "an LZ4 archive"}},
    {257, "ustar"sv, {FormatKind::kArchive, "a tar archive"}},
    {0, "%PDF"sv, {FormatKind::kPaper, "a PDF document"}},
    {0, "{\\rtf"sv, {FormatKind::kDocument, "an RTF document"}},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, {FormatKind::kDocument, "a document of Word, Excel or PowerPoint (doc, xls, ppt)"}},
    {0,
     "\x7F"
     "ELF"sv,
     {FormatKind::kProgram, "a program"}},
    {0, "MZ"sv, {FormatKind::kProgram, "a program (of Windows, or a llamafile)"}},
    {0, "\x89PNG\r\n\x1A\n"sv, {FormatKind::kPicture, "a PNG picture"}},
    {0, "\xFF\xD8\xFF"sv, {FormatKind::kPicture, "a JPEG picture"}},
    {0, "GIF8"sv, {FormatKind::kPicture, "a GIF picture"}},
    {0, "II*\0"sv, {FormatKind::kPicture, "a TIFF picture"}},
    {0, "MM\0*"sv, {FormatKind::kPicture, "a TIFF picture"}},
    {0, "\0\0\0\x0CjP  "sv, {FormatKind::kPicture, "a JPEG 2000 picture"}},
    {0, "\xFF\x4F\xFF\x51"sv, {FormatKind::kPicture, "a JPEG 2000 picture"}},
    {0, "\0\0\0\x0CJXL "sv, {FormatKind::kPicture, "a JPEG XL picture"}},
    {0, "\xFF\x0A"sv, {FormatKind::kPicture, "a JPEG XL picture"}},
    {0, "8BPS"sv, {FormatKind::kPicture, "a Photoshop file"}},
    {0, "\x76\x2F\x31\x01"sv, {FormatKind::kPicture, "an OpenEXR picture"}},
    {0, "\0\0\1\0"sv, {FormatKind::kPicture, "an icon file"}},
    {8, "WEBP"sv, {FormatKind::kPicture, "a WebP picture"}},
    {8, "WAVE"sv, {FormatKind::kMedia, "a WAV audio file"}},
    {8, "AVI "sv, {FormatKind::kMedia, "an AVI video"}},
    {4, "ftyp"sv, {FormatKind::kMedia, "an MP4 or QuickTime video"}},
    {0, "\x1A\x45\xDF\xA3"sv, {FormatKind::kMedia, "a Matroska or WebM video"}},
    {0, "OggS"sv, {FormatKind::kMedia, "an Ogg file"}},
    {0, "FLV\1"sv, {FormatKind::kMedia, "a Flash video"}},
    {0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11"sv, {FormatKind::kMedia, "a Windows Media file"}},
    {0, "\0\0\1\xBA"sv, {FormatKind::kMedia, "an MPEG program stream"}},
    {0, "\0\0\1\xB3"sv, {FormatKind::kMedia, "a bare MPEG video stream"}},
    {0, "ID3"sv, {FormatKind::kMedia, "an MP3 audio file"}},
    {0, "fLaC"sv, {FormatKind::kMedia, "a FLAC audio file"}},
};

constexpr KnownFormat kWebPage{FormatKind::kPage, "a web page"};
constexpr KnownFormat kXml{FormatKind::kPage, "an XML text"};
constexpr KnownFormat kTorchArchive{FormatKind::kPickle, "PyTorch weights (a pickle in a ZIP archive)"};
constexpr KnownFormat kPickle{FormatKind::kPickle, "a Python pickle (PyTorch weights)"};
constexpr KnownFormat kOnnx{FormatKind::kWeights, "an ONNX model"};
constexpr KnownFormat kBook{FormatKind::kPaper, "an EPUB book"};
constexpr KnownFormat kOpenDocument{FormatKind::kPaper, "a document of LibreOffice (odt, ods, odp)"};
constexpr KnownFormat kOfficeDocument{FormatKind::kPaper, "a document of Word, Excel or PowerPoint (docx, xlsx, pptx)"};
constexpr KnownFormat kAppleDocument{FormatKind::kDocument, "a document of Pages, Numbers or Keynote"};
constexpr std::size_t kZipNameAt = 30;  // of the first entry

// How a page begins, in small letters, behind a byte order mark and space.
std::string page_start(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  std::string start(head.substr(0, 16));
  std::ranges::transform(start, start.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return start;
}

// torch.save's archive: its first entry is <name>/data.pkl (or, written by TorchScript, another of its files beside it).
bool is_torch_archive(std::string_view head) {
  return head.starts_with("PK\3\4") && (head.find("/data.pkl") != head.npos || head.find("/.format_version") != head.npos);
}

// Documents of office programs are archives, which their first entry tells.
const KnownFormat* document_archive(std::string_view head) {
  if (!head.starts_with("PK\3\4") || head.size() <= kZipNameAt) return nullptr;
  if (head.find("mimetypeapplication/epub") != head.npos) return &kBook;
  if (head.find("mimetypeapplication/vnd.oasis") != head.npos) return &kOpenDocument;
  for (const std::string_view entry : {"[Content_Types].xml"sv, "_rels/.rels"sv, "docProps/"sv, "word/"sv, "xl/"sv, "customXml/"sv})
    if (head.substr(kZipNameAt).starts_with(entry)) return &kOfficeDocument;
  for (const std::string_view entry : {"Index/"sv, "Data/"sv, "preview"sv, "Metadata/BuildVersionHistory"sv})
    if (head.substr(kZipNameAt).starts_with(entry)) return &kAppleDocument;
  return nullptr;
}

// A protobuf of ModelProto: ir_version, a small number, then who wrote it, which is a short name.
bool is_onnx(std::string_view head) {
  constexpr std::size_t kNameBegins = 4;
  if (head.size() < kNameBegins + 1 || head[0] != '\x08' || head[1] < 1 || head[1] > 32 || head[2] != '\x12') return false;
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(head[3]));
  const std::string_view name = head.substr(kNameBegins, length);
  return length > 0 && length < 64 && name.size() == length &&
         std::ranges::all_of(name, [](unsigned char c) { return c >= 0x20 && c < 0x7F; });
}

}  // namespace

const KnownFormat* known_format(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_torch_archive(head)) return &kTorchArchive;
  if (const KnownFormat* const document = document_archive(head)) return document;
  for (const Row& row : kRows) {
    if (head.size() > row.offset && head.substr(row.offset).starts_with(row.magic)) return &row.format;
  }
  if (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) return &kPickle;
  const std::string start = page_start(head);
  if (start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")) return &kWebPage;
  if (start.starts_with("<?xml")) return &kXml;
  return is_onnx(head) ? &kOnnx : nullptr;
}

std::optional<Error> unfetched(std::span<const std::byte> head, const std::string& path) {
  const auto error = [&](const std::string& reason) { return Error{ErrorCode::kNotFetched, path, reason}; };
  if (head.empty()) return error("the file is empty: download or copy it again");
  const KnownFormat* const format = known_format(head);
  if (format != nullptr && format->kind == FormatKind::kPointer) {
    return error(std::string("this is ") + format->name +
                 ", which only says where the file is: run \"git lfs pull\" in its repository, or download the file itself");
  }
  if (format != nullptr && format->kind == FormatKind::kPage) {
    return error(std::string("this is ") + format->name +
                 " that was saved in place of the file: log in or accept the licence where it comes from, then download it again");
  }
  if (std::ranges::all_of(head, [](std::byte each) { return each == std::byte{0}; }))
    return error("its beginning is nothing but zeros, as that of an unfinished download is: download it again");
  return std::nullopt;
}

}  // namespace winnow
