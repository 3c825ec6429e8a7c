// One call of prefill attention with everything that it reads and writes.
//
// Used by prefill_attention_test and prefill_columns_test.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "kernels/api/prefill_attention.h"
#include "kernels/reference/element.h"

namespace winnow::kernels::testing {

// An array of any element type; values are rounded to it.
struct Elements {
  Elements(ElementType of, std::int64_t size) : type(of), words(static_cast<std::size_t>(size), 0xABABABABU) {}
  void set(std::int64_t index, float value) { set_element(words.data(), type, index, value); }
  double at(std::int64_t index) const { return element(words.data(), type, index); }
  void fill(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (std::int64_t i = 0; i < count; ++i) set(i, normal(random));
  }
  ElementType type;
  std::vector<std::uint32_t> words;
};

struct Case {
  std::int64_t group = 1, rows = 1, keys = 1, head_dim = 8;
  std::int64_t seen_by_first = 1 << 20;
  ElementType type = ElementType::kFp32;
  float scale = 0.3F;
};

// Rows of keys, values and results have gaps between them.
struct Attention {
  explicit Attention(const Case& of)
      : shape(of),
        query(of.type, of.group * of.rows * of.head_dim),
        key(of.type, of.keys * (of.head_dim + 3)),
        value(of.type, of.keys * (of.head_dim + 5)),
        output(of.type, of.rows * of.group * (of.head_dim + 1)),
        log_sum_exp(static_cast<std::size_t>(of.group * of.rows), -7.0F),
        workspace(static_cast<std::size_t>(prefill_attention_workspace(of.group, of.rows, of.head_dim)) + 1) {
    query.fill(of.group * of.rows * of.head_dim, 1);
    key.fill(of.keys * (of.head_dim + 3), 2);
    value.fill(of.keys * (of.head_dim + 5), 3);
    workspace.back() = 123.0F;
  }
  PrefillAttentionArgs args() {
    PrefillAttentionArgs args{.type = shape.type,
                              .query = query.words.data(),
                              .query_head_stride = shape.rows * shape.head_dim,
                              .query_row_stride = shape.head_dim,
                              .group = shape.group,
                              .rows = shape.rows,
                              .key = key.words.data()};
    args.key_stride = shape.head_dim + 3;
    args.value = value.words.data();
    args.value_stride = shape.head_dim + 5;
    args.keys = shape.keys;
    args.head_dim = shape.head_dim;
    args.seen_by_first = shape.seen_by_first;
    args.scale = shape.scale;
    args.output = output.words.data();
    args.output_head_stride = shape.head_dim + 1;
    args.output_row_stride = shape.group * (shape.head_dim + 1);
    args.log_sum_exp = log_sum_exp.data();
    args.log_sum_exp_stride = shape.rows;
    args.workspace = workspace.data();
    return args;
  }
  // With what the keys receive; rows of sums have a gap between them.
  PrefillAttentionArgs args_with_sums() {
    PrefillAttentionArgs args = this->args();
    args.column_sums_stride = shape.keys + 2;
    column_sums.assign(static_cast<std::size_t>(shape.group * args.column_sums_stride), -7.0F);
    column_squares.assign(static_cast<std::size_t>(shape.keys), -7.0F);
    kept.assign(static_cast<std::size_t>(prefill_attention_kept(args)) + 1, std::numeric_limits<float>::quiet_NaN());
    kept.back() = 123.0F;
    args.column_sums = column_sums.data();
    args.column_squares = column_squares.data();
    args.kept = kept.data();
    return args;
  }
  float column_sum(std::int64_t head, std::int64_t key) const {
    return column_sums[static_cast<std::size_t>(head * (shape.keys + 2) + key)];
  }
  double out(std::int64_t head, std::int64_t row, std::int64_t i) const {
    return output.at((row * shape.group + head) * (shape.head_dim + 1) + i);
  }
  float sum(std::int64_t head, std::int64_t row) const { return log_sum_exp[static_cast<std::size_t>(head * shape.rows + row)]; }

  Case shape;
  Elements query, key, value, output;
  std::vector<float> log_sum_exp, workspace, column_sums, column_squares, kept;
};

}  // namespace winnow::kernels::testing
