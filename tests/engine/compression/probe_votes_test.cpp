// Votes of probe rows over five slots, numbers computed by hand in double precision.
#include "engine/compression/statistics/probe_votes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/compression/layer_fixture.h"

namespace winnow {
namespace {

// Three probe rows of two query heads on one kv head behind five slots of the cache; head size 2.
LayerView probe_view() {
  LayerView view;
  view.scale = 1.0 / std::sqrt(2.0);
  view.past_keys = {at::tensor({2., 0., 1., 1., 0., 1., 1., -1., 0., 2.}).to(at::kFloat).view({5, 2})};
  view.past_values = {at::tensor({1., 0., 0., 2., 3., 0., 0., 1., 2., 2.}).to(at::kFloat).view({5, 2})};
  view.query = at::tensor({1., 0., 0., 2., 1., 1., 0., 1., 2., 0., 0., -1.}).to(at::kFloat).view({2, 3, 2});
  view.key = at::tensor({1., 0., 0., 1., 1., 1.}).to(at::kFloat).view({1, 3, 2});
  view.value = at::zeros({1, 3, 2});
  testing::set_log_sum_exp(view);
  return view;
}

void expect_votes(const LayerView& view, const ProbedSlots& slots, const std::vector<double>& expected) {
  const at::Tensor votes = probe_votes(view, slots);
  ASSERT_EQ(votes.sizes(), (at::IntArrayRef{1, static_cast<std::int64_t>(expected.size())}));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(votes[0][static_cast<std::int64_t>(i)].item<double>(), expected[i], 1e-5) << i;
}

TEST(ProbeVotes, LogSumExpsAreThoseOfTheFixture) {
  const at::Tensor lse = probe_view().log_sum_exp;
  const std::vector<double> expected = {2.501239, 3.450041, 3.158588, 2.366738, 3.473784, 1.831542};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(lse.flatten()[static_cast<std::int64_t>(i)].item<double>(), expected[i], 1e-5);
}

TEST(ProbeVotes, ASlotHasItsLargestProbability) {
  expect_votes(probe_view(), {.context = 5, .first = 0, .count = 5}, {0.524475, 0.190209, 0.190209, 0.324836, 0.537077});
  expect_votes(probe_view(), {.context = 4, .first = 0, .count = 4}, {0.190209, 0.190209, 0.324836, 0.537077});
  expect_votes(probe_view(), {.context = 4, .first = 2, .count = 1}, {0.324836});
}

TEST(ProbeVotes, AChunkSharesAttentionWithWhatIsBeforeTheContextAndTheRowsOnly) {
  expect_votes(probe_view(), {.context = 4, .first = 0, .count = 2, .sharing = ProbeSharing::kBesideJudged}, {0.334881, 0.334881});
  expect_votes(probe_view(), {.context = 4, .first = 2, .count = 2, .sharing = ProbeSharing::kBesideJudged}, {0.385766, 0.726904});
}

TEST(ProbeVotes, AChunkOfEverythingIsTheWholeSoftmax) {
  expect_votes(probe_view(), {.context = 5, .count = 5, .sharing = ProbeSharing::kBesideJudged},
               {0.524475, 0.190209, 0.190209, 0.324836, 0.537077});
}

// Rows that repeat a picture see each other, as its own do; the chunk's softmax is over what they see.
TEST(ProbeVotes, RowsOfAPictureShareWithLaterOnes) {
  LayerView view = probe_view();
  const at::Tensor alone = view.log_sum_exp;
  view.bidirectional = {{0, 2}};
  testing::set_log_sum_exp(view);
  // Row 0 sees the key (0, 1) of row 1, too: logits 0 and 1 / sqrt(2) for its queries (1, 0) and (0, 1).
  for (std::int64_t head = 0; head < 2; ++head) {
    const double added = head == 0 ? 1.0 : std::exp(1.0 / std::sqrt(2.0));
    EXPECT_NEAR(view.log_sum_exp[head][0].item<double>(), std::log(std::exp(alone[head][0].item<double>()) + added), 1e-5);
    for (std::int64_t row = 1; row < 3; ++row) EXPECT_EQ(view.log_sum_exp[head][row].item<float>(), alone[head][row].item<float>());
  }
  // As if the cache ended with the chunk.
  LayerView cut = view;
  cut.past_keys = {view.past_keys[0].narrow(0, 0, 3)};
  testing::set_log_sum_exp(cut);
  EXPECT_TRUE(at::allclose(probe_votes(view, {.context = 4, .count = 2, .sharing = ProbeSharing::kBesideJudged}),
                           probe_votes(cut, {.context = 2, .count = 2}), 1e-5, 1e-6));
}

// Output projection of head 0 the identity, of head 1 rows (0, 1), (2, 0); inputs of the rows have norms 1, 2 and 1/2.
TEST(ProbeVotes, NormsWeighWhatASlotAddsToTheRow) {
  LayerView view = probe_view();
  const LinearWeight output = at::tensor({1., 0., 0., 1., 0., 1., 2., 0.}).to(at::kFloat).view({2, 4});
  view.output_weight = &output;
  view.input_norms = at::tensor({1., 2., 0.5}).to(at::kFloat);
  expect_votes(view, {.context = 5, .count = 5, .norms = true}, {0.640666, 0.699017, 1.141255, 0.649672, 1.725199});
}

// Rows (1, 0), (0, 1) of one query head and (1, 1), (0, 2) of the other; the slot before the media does not share.
TEST(ProbeVotes, MeansOverRowsOfWhatTheMediaAloneShare) {
  LayerView view = probe_view();
  view.query = at::tensor({1., 0., 0., 1., 1., 1., 0., 2.}).to(at::kFloat).view({2, 2, 2});
  view.key = view.key.narrow(1, 0, 2);
  view.value = view.value.narrow(1, 0, 2);
  testing::set_log_sum_exp(view);
  expect_votes(view, {.context = 4, .count = 4, .sharing = ProbeSharing::kJudgedAlone, .mean = true},
               {0.274123, 0.185365, 0.122557, 0.417955});
}

TEST(ProbeVotes, EveryKvHeadIsJudgedByItsOwnGroupAndItsOwnNumberOfSlots) {
  LayerView view = testing::random_view(LayerId(0), 4, 2, 70, 8, {9, 6});
  for (const at::Tensor& keys : view.past_keys) view.past_values.push_back(at::randn_like(keys));
  testing::set_log_sum_exp(view);
  const at::Tensor votes = probe_votes(view, {.context = 5, .count = 5});
  const std::vector<at::Tensor> logits = testing::dense_logits(view);
  for (std::int64_t kv = 0; kv < 2; ++kv) {
    const std::int64_t before = view.past_keys[static_cast<std::size_t>(kv)].size(0) - 5;
    at::Tensor best;
    for (std::int64_t q = 2 * kv; q < 2 * kv + 2; ++q) {
      const at::Tensor own = at::softmax(logits[static_cast<std::size_t>(q)], 1).narrow(1, before, 5).amax(0);
      best = best.defined() ? at::maximum(best, own) : own;
    }
    EXPECT_TRUE(at::allclose(votes[kv], best.to(at::kFloat), 1e-5, 1e-6));
  }
}

// [rows, d] as they are `further` positions later: element i of the first half turns with element i of the second.
at::Tensor turned(const at::Tensor& rows, double further) {
  at::Tensor result = rows.clone();
  const std::int64_t half = rows.size(1) / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const double angle = further * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
    result.select(1, i).copy_(rows.select(1, i) * std::cos(angle) - rows.select(1, i + half) * std::sin(angle));
    result.select(1, i + half).copy_(rows.select(1, i + half) * std::cos(angle) + rows.select(1, i) * std::sin(angle));
  }
  return result;
}

// Rows 3 to 8 of twelve, as if they came 40 positions later: beside the context, each has in its softmax what it saw when it was read.
TEST(VotesAsRead, AreThoseOfTheContextsRowsBehindIt) {
  LayerView view = testing::random_view(LayerId(0), 4, 2, 12, 8);
  testing::set_log_sum_exp(view);
  const LinearWeight output = at::randn({5, 32});
  view.output_weight = &output;
  view.input_norms = at::rand({12}) + 0.5;
  for (const bool norms : {false, true}) {
    const at::Tensor votes = votes_as_read(view, {3, 6, 40, norms});
    for (std::int64_t kv = 0; kv < 2; ++kv) {
      at::Tensor best = at::zeros({6}, at::kDouble);
      for (std::int64_t q = 2 * kv; q < 2 * kv + 2; ++q) {
        const at::Tensor queries = turned(view.query[q].narrow(0, 3, 6).to(at::kDouble), 40.0);
        const at::Tensor logits = at::mm(queries, view.key[kv].narrow(0, 3, 6).to(at::kDouble).t()) * view.scale;
        const at::Tensor others = view.log_sum_exp[q].narrow(0, 3, 6).to(at::kDouble).unsqueeze(1);
        at::Tensor own = at::softmax(at::cat({logits, others}, 1), 1).narrow(1, 0, 6);
        if (norms) {
          const at::Tensor added = at::mm(view.value[kv].narrow(0, 3, 6), output.columns(q * 8, 8).t()).norm(2, 1);
          own = own / view.input_norms.narrow(0, 3, 6).unsqueeze(1) * added.unsqueeze(0);
        }
        best = at::maximum(best, own.amax(0));
      }
      EXPECT_TRUE(at::allclose(votes[kv], best.to(at::kFloat), 1e-4, 1e-6)) << norms;
    }
  }
}

// A window of four: the layer still holds the last three rows, and row r of the repetition sees those that are less than four before it.
TEST(VotesAsRead, AreForWhatAWindowStillHolds) {
  LayerView view = testing::random_view(LayerId(0), 1, 1, 6, 8);
  view.rotary.theta = 0.0;
  testing::set_log_sum_exp(view);
  view.window.tokens = 4;
  const at::Tensor votes = votes_as_read(view, {0, 6, 6});
  ASSERT_EQ(votes.sizes(), (at::IntArrayRef{1, 3}));
  const at::Tensor logits = at::mm(view.query[0], view.key[0].narrow(0, 3, 3).t()) * view.scale;
  std::vector<double> best(3, 0.0);
  for (std::int64_t row = 0; row < 3; ++row) {
    double sum = std::exp(view.log_sum_exp[0][row].item<double>());
    for (std::int64_t slot = row; slot < 3; ++slot) sum += std::exp(logits[row][slot].item<double>());
    for (std::int64_t slot = row; slot < 3; ++slot) {
      double& so_far = best[static_cast<std::size_t>(slot)];
      so_far = std::max(so_far, std::exp(logits[row][slot].item<double>()) / sum);
    }
  }
  for (std::int64_t slot = 0; slot < 3; ++slot) EXPECT_NEAR(votes[0][slot].item<double>(), best[static_cast<std::size_t>(slot)], 1e-5);
}

TEST(RowAttention, IsTheMeanOfTheHeadsProbabilities) {
  const at::Tensor looks = row_attention(probe_view(), 5);
  // Means of the fixture's two tables, row by row.
  const std::vector<double> expected = {0.215502, 0.178241, 0.136096, 0.106258, 0.233875, 0.278110, 0.129041, 0.080786,
                                        0.067614, 0.284039, 0.167460, 0.126864, 0.082570, 0.183661, 0.106847};
  ASSERT_EQ(looks.sizes(), (at::IntArrayRef{3, 5}));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(looks.flatten()[static_cast<std::int64_t>(i)].item<double>(), expected[i], 1e-5) << i;
  EXPECT_TRUE(at::allclose(row_attention(probe_view(), 2), looks.narrow(1, 3, 2))) << "the last slots";
}

}  // namespace
}  // namespace winnow
