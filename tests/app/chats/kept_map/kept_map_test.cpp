#include "app/chats/kept_map/kept_map.h"

#include <gtest/gtest.h>

#include <random>

namespace winnow::app {
namespace {

TokenOrigin visual(int media, int frame, int row, int column) {
  return {Modality::kVisual, media, frame, static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)};
}

// Four system tokens, `frames` frames of side x side patches with a newline at the end, a tiled image, six text tokens.
std::vector<TokenOrigin> prompt(int frames, int side) {
  std::vector<TokenOrigin> tokens(4, {Modality::kSystem, -1, -1, -1, -1});
  for (int frame = 0; frame < frames; ++frame) {
    for (int patch = 0; patch < side * side; ++patch) tokens.push_back(visual(0, frame, patch / side, patch % side));
  }
  tokens.push_back(visual(0, -1, -1, -1));
  for (int patch = 0; patch < 9; ++patch) tokens.push_back(visual(1, 0, patch / 3, patch % 3));
  for (int row = 0; row < 5; ++row) {
    for (int column = 0; column < 6; ++column) tokens.push_back(visual(1, 1 + row / 3 * 2 + column / 3, row, column));
    tokens.push_back(visual(1, 2 + row / 3 * 2, -1, -1));
  }
  tokens.insert(tokens.end(), 6, TokenOrigin{});
  return tokens;
}

CacheReport report_of(std::vector<TokenOrigin> tokens, int layers, int heads, double share, bool merges, bool same_heads = false) {
  CacheReport report;
  std::mt19937 random(static_cast<unsigned>(layers * 31 + heads));
  for (int layer = 0; layer < layers; ++layer) {
    auto& kept = report.kept.emplace_back();
    auto& merged = report.merged.emplace_back();
    for (int head = 0; head < heads; ++head) {
      auto& of_head = kept.emplace_back();
      if (same_heads && head > 0) of_head = kept.front();
      for (std::size_t token = 0; token < tokens.size() && (!same_heads || head == 0); ++token) {
        if (random() % 10000 < share * 10000) of_head.push_back(static_cast<std::int32_t>(token));
      }
      auto& of_merged = merged.emplace_back();
      for (std::size_t i = 0; i < of_head.size(); ++i)
        of_merged.push_back(static_cast<std::int32_t>(random() % 3 == 0 ? random() % 200 : 0));
    }
  }
  if (!merges) report.merged.clear();
  for (std::size_t token = 0; token < tokens.size(); ++token) {
    if (tokens[token].modality != Modality::kVisual)
      report.texts.push_back({static_cast<std::int32_t>(token), "w\xC3" + std::to_string(token)});
  }
  report.pinned = {5, 6, 40};
  report.tokens = std::move(tokens);
  return report;
}

TEST(KeptMap, SaysWhatTheReportSays) {
  const CacheReport report = report_of(prompt(4, 3), 3, 2, 0.3, true);
  const KeptMap map = KeptMap::fromReport(report);
  ASSERT_EQ(map.layers(), 3);
  ASSERT_EQ(map.heads(), 2);
  ASSERT_EQ(map.tokens(), static_cast<int>(report.tokens.size()));
  EXPECT_TRUE(map.headsDiffer());
  for (int layer = 0; layer < 3; ++layer) {
    for (int token = 0; token < map.tokens(); ++token) {
      int heads = 0;
      for (int head = 0; head < 2; ++head) {
        const auto& kept = report.kept[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
        const auto found = std::find(kept.begin(), kept.end(), token);
        EXPECT_EQ(map.isKept(layer, head, token), found != kept.end());
        heads += found != kept.end() ? 1 : 0;
        const auto& merged = report.merged[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
        EXPECT_EQ(map.merged(layer, head, token), found != kept.end() ? merged[static_cast<std::size_t>(found - kept.begin())] : 0);
      }
      EXPECT_EQ(map.keptHeads(layer, token), heads);
    }
  }
  EXPECT_TRUE(map.isPinned(40));
  EXPECT_FALSE(map.isPinned(41));
  EXPECT_EQ(map.text(2), QByteArray("w\xC3"
                                    "2"));
  EXPECT_TRUE(map.text(10).isEmpty());
}

TEST(KeptMap, ComesBackEqualFromItsBytes) {
  for (const double share : {0.0, 0.01, 0.2, 0.6, 0.95, 1.0}) {
    for (const bool merges : {false, true}) {
      for (const bool same_heads : {false, true}) {
        const KeptMap map = KeptMap::fromReport(report_of(prompt(7, 4), 5, 3, share, merges, same_heads));
        const std::optional<KeptMap> back = KeptMap::fromBytes(map.toBytes());
        ASSERT_TRUE(back) << share;
        EXPECT_EQ(*back, map) << share;
        EXPECT_EQ(back->headsDiffer(), !same_heads && share > 0.0 && share < 1.0);
      }
    }
  }
  const KeptMap empty;
  EXPECT_EQ(KeptMap::fromBytes(empty.toBytes()), empty);
}

// Documents and subtitles have lines, no patches, and their words are in the map.
TEST(KeptMap, ADocumentComesBackWithItsWords) {
  CacheReport report;
  for (std::int32_t i = 0; i < 40; ++i) {
    report.tokens.push_back({i < 30 ? Modality::kDocument : Modality::kSubtitle, i < 30 ? 0 : 1, i / 8, -1, -1});
    report.texts.push_back({i, " w" + std::to_string(i)});
  }
  report.kept = {{{0, 3, 39}, {5}}};
  const KeptMap map = KeptMap::fromReport(report);
  const std::optional<KeptMap> back = KeptMap::fromBytes(map.toBytes());
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, map);
  EXPECT_EQ(back->origins()[17].modality, Modality::kDocument);
  EXPECT_EQ(back->origins()[17].frame, 2);
  EXPECT_EQ(back->origins()[39].modality, Modality::kSubtitle);
  EXPECT_EQ(back->text(39), QByteArray(" w39"));
}

TEST(KeptMap, StaysSmall) {
  // 32k visual tokens in 28 layers of 4 heads that all keep something else.
  for (const double share : {0.05, 0.2, 0.5, 0.67, 0.9}) {
    const CacheReport report = report_of(prompt(163, 14), 28, 4, share, true);
    ASSERT_GT(report.tokens.size(), 31'000U);
    const KeptMap map = KeptMap::fromReport(report);
    const QByteArray bytes = map.toBytes();
    EXPECT_LT(bytes.size(), KeptMap::kMaxBytes) << share;
    EXPECT_EQ(KeptMap::fromBytes(bytes), map);
  }
  // Without merging and at the usual share it is a small part of it.
  EXPECT_LT(KeptMap::fromReport(report_of(prompt(163, 14), 28, 4, 0.1, false)).toBytes().size(), KeptMap::kMaxBytes / 8);
  // Where a method keeps whole layers alike, one head stands for all.
  EXPECT_LT(KeptMap::fromReport(report_of(prompt(163, 14), 28, 4, 0.1, false, true)).toBytes().size(), KeptMap::kMaxBytes / 32);
}

// As the format says it, for bytes that were damaged by someone who knows it.
void seal(QByteArray& bytes) {
  quint64 hash = 14695981039346656037ULL;
  const qsizetype body = bytes.size() - 8;
  for (qsizetype i = 0; i < body; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 1099511628211ULL;
  for (int i = 0; i < 8; ++i) bytes[body + i] = static_cast<char>(hash >> (8 * i));
}

TEST(KeptMap, DamagedBytesGiveNothing) {
  const QByteArray good = KeptMap::fromReport(report_of(prompt(3, 3), 3, 2, 0.4, true)).toBytes();
  for (qsizetype i = 0; i < good.size(); ++i) {
    QByteArray bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    EXPECT_FALSE(KeptMap::fromBytes(bad)) << "byte " << i;
    EXPECT_FALSE(KeptMap::fromBytes(good.left(i))) << "cut at " << i;
  }
  EXPECT_FALSE(KeptMap::fromBytes(good + 'x'));
  EXPECT_FALSE(KeptMap::fromBytes({}));
}

TEST(KeptMap, SealedNonsenseIsRefusedOrConsistent) {
  std::mt19937 random(7);
  const QByteArray good = KeptMap::fromReport(report_of(prompt(3, 3), 3, 2, 0.4, true)).toBytes();
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    QByteArray bad = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      bad[static_cast<qsizetype>(4 + random() % static_cast<unsigned>(bad.size() - 12))] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bad.remove(static_cast<qsizetype>(4 + random() % static_cast<unsigned>(bad.size() - 12)), 1);
    seal(bad);
    const std::optional<KeptMap> map = KeptMap::fromBytes(bad);
    if (!map) continue;
    ++accepted;
    // What is accepted can be used and saved again.
    for (int layer = 0; layer < map->layers(); ++layer) {
      for (int head = 0; head < map->heads(); ++head) {
        for (int token = 0; token < map->tokens(); ++token) {
          if (!map->isKept(layer, head, token)) {
            ASSERT_EQ(map->merged(layer, head, token), 0);
          }
        }
      }
    }
    ASSERT_EQ(KeptMap::fromBytes(map->toBytes()), map);
  }
  EXPECT_GT(accepted, 0);
}

TEST(KeptMap, AsksForNoMemoryThatItsBytesDoNotJustify) {
  // 2^22 tokens in 4096 layers of 4096 heads: refused before anything is made.
  QByteArray bytes("WKM1");
  for (const quint64 number : {quint64{1} << 22, quint64{4096}, quint64{4096}}) {
    quint64 value = number;
    for (; value >= 128; value >>= 7) bytes.append(static_cast<char>(value | 128));
    bytes.append(static_cast<char>(value));
  }
  bytes.append(8, '\0');
  seal(bytes);
  EXPECT_FALSE(KeptMap::fromBytes(bytes));
}

TEST(KeptMap, IsToldOverALongerListOfTokens) {
  // A method that prunes before the decoder has no indices for what it left out.
  const std::vector<TokenOrigin> whole = prompt(3, 3);
  std::vector<TokenOrigin> pruned;
  std::vector<int> place;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].modality == Modality::kVisual && whole[i].row >= 0 && i % 3 == 0) continue;
    place.push_back(static_cast<int>(i));
    pruned.push_back(whole[i]);
  }
  const KeptMap own = KeptMap::fromReport(report_of(pruned, 2, 2, 0.5, true));
  const std::optional<KeptMap> told = own.over(whole);
  ASSERT_TRUE(told);
  ASSERT_EQ(told->tokens(), static_cast<int>(whole.size()));
  int kept = 0;
  for (int token = 0; token < told->tokens(); ++token) kept += told->keptHeads(1, token);
  int own_kept = 0;
  for (int token = 0; token < own.tokens(); ++token) {
    own_kept += own.keptHeads(1, token);
    EXPECT_EQ(told->isKept(1, 1, place[static_cast<std::size_t>(token)]), own.isKept(1, 1, token));
    EXPECT_EQ(told->merged(1, 1, place[static_cast<std::size_t>(token)]), own.merged(1, 1, token));
    EXPECT_EQ(told->text(place[static_cast<std::size_t>(token)]), own.text(token));
  }
  EXPECT_EQ(kept, own_kept);
  EXPECT_EQ(own.over(pruned), own);
  EXPECT_FALSE(told->over(pruned)) << "a longer list does not fit into a shorter one";
}

}  // namespace
}  // namespace winnow::app
