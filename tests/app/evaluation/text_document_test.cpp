// Documents made of running text: their names, and who opens them.
#include "app/evaluation/text_document.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

// Says which path it was asked for.
class OtherOpener final : public MediaOpener {
 public:
  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken&) override {
    throw Exception(ErrorCode::kFileNotFound, request.path, "other");
  }
};

TEST(TextDocument, OpensItsNamesAndLeavesTheOthers) {
  TextDocumentOpener opener(std::make_unique<OtherOpener>(), "held", [](const TextDocumentSpec& spec) {
    return std::to_string(spec.words) + " words, number " + std::to_string(spec.number) + ", seed " + std::to_string(spec.seed);
  });
  MediaRequest request;
  request.kind = MediaKind::kDocument;
  request.path = textDocumentName("held", {400, 3, 7});
  EXPECT_EQ(request.path, "held:400:3:7");
  const auto source = opener.open(request, {});
  EXPECT_EQ(source->kind(), MediaKind::kDocument);
  EXPECT_EQ(source->text(), "400 words, number 3, seed 7");
  EXPECT_EQ(source->content_hash(), opener.open(request, {})->content_hash());
  for (const char* other : {"letter.txt", "facts:400:3:7"}) {
    request.path = other;
    try {
      opener.open(request, {});
      FAIL() << other;
    } catch (const Exception& problem) {
      EXPECT_EQ(problem.error().code, ErrorCode::kFileNotFound) << other;
    }
  }
}

TEST(TextDocument, RefusesMalformedNames) {
  EXPECT_FALSE(textDocumentSpec("facts", "letter.txt"));
  EXPECT_FALSE(textDocumentSpec("facts", "held:400:1:2"));
  for (const char* name :
       {"facts:", "facts:400:1", "facts:400:1:2x", "facts:0400:1:2", "facts:99:1:2", "facts:100001:1:2", "facts:400:-1:2"})
    EXPECT_THROW(textDocumentSpec("facts", name), Exception) << name;
}

}  // namespace
}  // namespace winnow::app
