// The definition of correct: token by token, column by column, in double within a token.
#include "kernels/api/gated_delta.h"

#include "kernels/reference/check_rows.h"

namespace winnow::kernels {
namespace {

// One column of the state through one token. Returns what the token reads.
float through_token(const GatedDeltaArgs& args, std::int64_t token, std::int64_t column) {
  const float* const key = args.key + (token * args.key_heads + args.key_head) * args.key_dim;
  const float* const query = args.query + (token * args.key_heads + args.key_head) * args.key_dim;
  const std::int64_t of_head = token * args.value_heads + args.head;
  float* const state = args.state + args.head * args.key_dim * args.value_dim + column;
  double known = 0.0;
  for (std::int64_t i = 0; i < args.key_dim; ++i)
    known += static_cast<double>(key[i]) * static_cast<double>(args.decay[of_head]) * static_cast<double>(state[i * args.value_dim]);
  const double added =
      static_cast<double>(args.beta[of_head]) * (static_cast<double>(args.value[of_head * args.value_dim + column]) - known);
  double read = 0.0;
  for (std::int64_t i = 0; i < args.key_dim; ++i) {
    float& element = state[i * args.value_dim];
    element =
        static_cast<float>(static_cast<double>(args.decay[of_head]) * static_cast<double>(element) + static_cast<double>(key[i]) * added);
    read += static_cast<double>(query[i]) * static_cast<double>(element);
  }
  return static_cast<float>(read);
}

}  // namespace

LaunchStatus gated_delta_reference(const GatedDeltaArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t token = 0; token < args.tokens; ++token) {
    for (std::int64_t column = args.first_column; column < args.first_column + args.columns; ++column) {
      args.output[(token * args.value_heads + args.head) * args.value_dim + column] = through_token(args, token, column);
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
