// Options of presets that were measured for a model (its winnow.json), by the option's name, as the texts that presets read.
//
// Made by engine/models, carried by ModelInfo, put into recipes by with_measured_options(). Plain values.
#pragma once

#include <map>
#include <string>

namespace winnow {

using MeasuredOptions = std::map<std::string, std::string>;

inline constexpr const char* kLayerProfileOption = "profile";   // share_profile.h
inline constexpr const char* kHeadTableOption = "head_scores";  // head_table.h

}  // namespace winnow
