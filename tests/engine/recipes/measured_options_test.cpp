#include "engine/recipes/measured_options.h"

#include <gtest/gtest.h>

#include <cmath>

namespace winnow {
namespace {

const ShareProfile kMeasured = {{0.1, {0.05, 0.15}}, {0.2, {0.1, 0.3}}, {0.5, {0.7, 0.3}}};

void expect_shares(double retention, const std::vector<double>& expected) {
  const std::vector<double> shares = shares_at(kMeasured, retention);
  ASSERT_EQ(shares.size(), expected.size());
  for (std::size_t layer = 0; layer < shares.size(); ++layer) EXPECT_NEAR(shares[layer], expected[layer], 1e-12) << retention;
}

TEST(ShareProfile, ReadsOffTheLineBetweenNeighbours) {
  expect_shares(0.1, {0.05, 0.15});
  expect_shares(0.2, {0.1, 0.3});
  expect_shares(0.5, {0.7, 0.3});
  expect_shares(0.15, {0.075, 0.225});
  expect_shares(0.3, {0.3, 0.3});  // a third of the way from 0.2 to 0.5
  expect_shares(0.44, {0.58, 0.3});
}

TEST(ShareProfile, EndsWithNothingAtZeroAndEverythingAtOne) {
  expect_shares(0.0, {0.0, 0.0});
  expect_shares(0.05, {0.025, 0.075});
  expect_shares(0.75, {0.85, 0.65});
  expect_shares(1.0, {1.0, 1.0});
}

// Where every row's mean is its retention, so is that of every line between them.
TEST(ShareProfile, KeepsTheMeanAtTheRetention) {
  for (double retention = 0.01; retention < 1.0; retention += 0.01) {
    const std::vector<double> shares = shares_at(kMeasured, retention);
    EXPECT_NEAR((shares[0] + shares[1]) / 2.0, retention, 1e-12);
  }
}

TEST(ShareProfile, IsWrittenAndReadAlike) {
  EXPECT_EQ(profile_text(kMeasured), "0.1=0.05:0.15/0.2=0.1:0.3/0.5=0.7:0.3");
  EXPECT_EQ(parse_profile(profile_text(kMeasured)), kMeasured);
  const ShareProfile odd = {{1.0 / 3.0, {0.1 + 0.2, 1e-9}}};
  EXPECT_EQ(parse_profile(profile_text(odd)), odd);
  EXPECT_EQ(profile_text({}), "");
  for (const char* text : {"", "x", "0.1", "0.1=a", "0.1=0.5;0.2", "0.1=0.5/", "0.1=0.5//0.2=0.5", "0,1=0.5"}) {
    const ShareProfile read = parse_profile(text);
    EXPECT_TRUE(read.empty() || !profile_problem(read).empty() || profile_text(read) == "0.1=0.5") << text;
  }
}

TEST(ShareProfile, SaysWhatIsWrong) {
  EXPECT_EQ(profile_problem(kMeasured), "");
  EXPECT_EQ(profile_problem({}), "");
  const auto problem = [](double retention, std::vector<double> shares) {
    return profile_problem({{0.1, {0.05, 0.15}}, {retention, std::move(shares)}});
  };
  const std::string order = "must have rows of ascending retentions between 0 and 1";
  for (const double retention : {0.1, 0.05, 0.0, -0.2, 1.0, 2.0, std::nan("")}) EXPECT_EQ(problem(retention, {0.5, 0.5}), order);
  const std::string layers = "must have one share per layer in every row";
  EXPECT_EQ(problem(0.2, {}), layers);
  EXPECT_EQ(problem(0.2, {0.5}), layers);
  EXPECT_EQ(problem(0.2, {0.5, 0.5, 0.5}), layers);
  EXPECT_EQ(profile_problem({{0.1, {}}}), layers);
  const std::string range = "must have shares over 0 and at most 1";
  for (const double share : {0.0, -0.1, 1.01, std::nan("")}) EXPECT_EQ(problem(0.2, {0.5, share}), range);
}

const HeadTable kMeasuredHeads = {{0.9, 0.6}, {0.8, 0.9}};

TEST(HeadTable, IsWrittenAndReadAlike) {
  EXPECT_EQ(head_table_text(kMeasuredHeads), "0.9:0.6/0.8:0.9");
  EXPECT_EQ(parse_head_table(head_table_text(kMeasuredHeads)), kMeasuredHeads);
  const HeadTable odd = {{1.0 / 3.0, 1e-9, 0.0}};
  EXPECT_EQ(parse_head_table(head_table_text(odd)), odd);
  EXPECT_EQ(head_table_text({}), "");
  for (const char* text : {"", "x", "0.1:", "0.1;0.2", "0.1:a", "0,1"}) {
    const HeadTable read = parse_head_table(text);
    EXPECT_TRUE(read.empty() || head_table_text(read) == "0.1") << text;
  }
}

TEST(HeadTable, SaysWhatIsWrong) {
  EXPECT_EQ(head_table_problem(kMeasuredHeads), "");
  EXPECT_EQ(head_table_problem({}), "");
  EXPECT_EQ(head_table_problem({{0.1, 0.2}, {0.3}}), "must have one number per head in every layer");
  EXPECT_EQ(head_table_problem({{}}), "must have one number per head in every layer");
  EXPECT_EQ(head_table_problem({{0.1, -0.2}}), "must have numbers that are not negative");
}

}  // namespace

}  // namespace winnow
