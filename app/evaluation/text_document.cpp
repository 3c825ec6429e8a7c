#include "app/evaluation/text_document.h"

#include <QCryptographicHash>
#include <cstdio>
#include <utility>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

class TextSource final : public FrameSource {
 public:
  TextSource(std::string name, std::string text) : m_name(std::move(name)), m_text(std::move(text)) {}
  MediaKind kind() const override { return MediaKind::kDocument; }
  PictureSize picture_size() const override { return {}; }
  double duration_s() const override { return 0.0; }
  int frame_count() const override { return 0; }
  std::string content_hash() const override {
    return QCryptographicHash::hash(QByteArray::fromStdString(m_text), QCryptographicHash::Sha256).toHex().toStdString();
  }
  std::string text() const override { return m_text; }
  std::vector<SampledFrame> read(int, int count, const InterruptToken&) override {
    if (count == 0) return {};
    throw Exception(ErrorCode::kInvalidArgument, m_name, "a document has no frames");
  }

 private:
  const std::string m_name;
  const std::string m_text;
};

}  // namespace

std::string textDocumentName(const std::string& kind, const TextDocumentSpec& spec) {
  return kind + ":" + std::to_string(spec.words) + ":" + std::to_string(spec.number) + ":" + std::to_string(spec.seed);
}

std::optional<TextDocumentSpec> textDocumentSpec(const std::string& kind, const std::string& name) {
  if (!name.starts_with(kind + ":")) return std::nullopt;
  TextDocumentSpec spec;
  unsigned long long seed = 0;
  const int read = std::sscanf(name.c_str() + kind.size(), ":%6d:%6d:%19llu", &spec.words, &spec.number, &seed);
  spec.seed = seed;
  // Written again it is the same, or it was written otherwise (blanks, signs, zeros in front).
  if (read != 3 || textDocumentName(kind, spec) != name || spec.words < kFewestDocumentWords || spec.words > kMostDocumentWords ||
      spec.number < 0) {
    throw Exception(ErrorCode::kInvalidArgument, name, "is no document: " + kind + ":WORDS:NUMBER:SEED, 100 to 100000 words");
  }
  return spec;
}

RandomNumbers randomOf(const TextDocumentSpec& spec) {
  RandomNumbers seed(spec.seed);
  const std::uint64_t own = static_cast<std::uint64_t>(spec.words) << 32 | static_cast<std::uint32_t>(spec.number);
  return RandomNumbers(seed.next() ^ own);
}

std::vector<Sentences> drawnPart(const RunningText& text, const TextDocumentSpec& spec, RandomNumbers& random, int more) {
  const auto words = static_cast<std::size_t>(spec.words + more);
  if (text.words() < words) {
    throw Exception(ErrorCode::kInvalidArgument, "",
                    "the text has " + std::to_string(text.words()) + " words in whole paragraphs, fewer than a document of " +
                        std::to_string(spec.words) + (more > 0 ? " and the " + std::to_string(more) + " behind it" : ""));
  }
  return text.part(random.below(text.paragraphs().size()), words);
}

std::unique_ptr<FrameSource> TextDocumentOpener::open(const MediaRequest& request, const InterruptToken& interrupt) {
  const std::optional<TextDocumentSpec> spec = textDocumentSpec(m_kind, request.path);
  if (!spec) return m_files->open(request, interrupt);
  return std::make_unique<TextSource>(request.path, m_textOf(*spec));
}

}  // namespace winnow::app
