// A figure as the one number that logs and tables have of it; lists (per layer) count with their mean, absent ones with none.
//
// Used by item_log, report and report_writers with the lists of fields in engine/metrics. Threads: any.
#pragma once

#include <optional>
#include <vector>

#include "app/evaluation/interval.h"

namespace winnow::app {

inline std::optional<double> numberOf(double figure) { return figure; }
inline std::optional<double> numberOf(const std::optional<double>& figure) { return figure; }
inline std::optional<double> numberOf(const std::vector<double>& figure) {
  return figure.empty() ? std::nullopt : std::optional<double>(mean(figure));
}

inline void setNumber(double& figure, double number) { figure = number; }
inline void setNumber(std::optional<double>& figure, double number) { figure = number; }
inline void setNumber(std::vector<double>& figure, double number) { figure = {number}; }

}  // namespace winnow::app
