// When a method decides what stays.
#pragma once

namespace winnow {

enum class MethodPhase : int {
  kOnce = 1,         // one event after the prefill; decoding only appends
  kDecode = 2,       // as once, and one slot leaves per decoded token so that the budget holds
  kRatioDecode = 3,  // as once, and a slot leaves whenever the layer holds a whole slot more than its share of all tokens seen
  kPrefill = 4,      // no event: visual tokens leave the network while it reads the prompt
  kContext = 5,      // one event after the media, before the first row of what is asked about them; decoding only appends
  kStream = 6,       // the media come in clips, and an event after each brings them back to their slots; else as context
  kRetrieve = 7,     // nothing leaves: for every question each layer fetches what fits it, before its first row; decoding only appends
};

}  // namespace winnow
