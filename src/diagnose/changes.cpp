#include <stdexcept>

#include "diagnose/experiments.hpp"

namespace graphsan::diagnose {

namespace {

struct Words {
  std::string_view name;
  std::string_view sham;
};

Words words_of(Change change) {
  switch (change) {
    case Change::kLiveCapture:
      return {"captured again with live metadata", "captured again as before"};
    case Change::kFillBucket:
      return {"all lanes of the bucket made real", "the same procedure with the padding kept"};
    case Change::kPoisonPadLanes:
      return {"other values in the pad lanes", "the same values again"};
    case Change::kNeutralPadMetadata:
      return {"the pad lanes' metadata set to neutral values", "written back as it was"};
    case Change::kSerialise:
      return {"edges added between all nodes in creation order", "a clone without new edges"};
    case Change::kPatchScalars:
      return {"the node's frozen words set to their live values", "set to what they were"};
    case Change::kPatchPointers:
      return {"the node's pointers set to the buffers that eager is passed",
              "set to the buffers that they name"};
    case Change::kTryScalars:
      return {"the node's frozen words set to their live values, to see what moves",
              "set to what they were, again and again"};
    case Change::kPadLanesDoNotMatter:
      return {"other values in the pad lanes, which must change nothing",
              "the same values once more"};
    case Change::kRefreshInputs:
      return {"live contents put at the captured address", "contents put back as they were"};
    case Change::kReplaceCopySources:
      return {"the copy pointed at a buffer with the live value",
              "pointed at a copy of what it read"};
    case Change::kRestoreOpaque:
      return {"state put back before each replay", "state written back as it was"};
    case Change::kOpaqueFromEager:
      return {"state given eager's value before each replay", "state written back as it was"};
    case Change::kRestoreAfterCapture:
      return {"the caches restored after capture", "carried on from what capture left"};
    case Change::kKeepFreed:
      return {"captured with all freed memory kept", "captured again as before"};
    case Change::kPoisonFreed:
      return {"other bytes in freed blocks", "the same bytes again"};
    case Change::kPoisonGraphPool:
      return {"other bytes in the graph pool's blocks", "the same bytes again"};
    case Change::kOtherGraph:
      return {"another captured graph of the bucket replayed", "the chosen graph replayed"};
    case Change::kWaitForCopies:
      return {"every copy from host memory waited for", "copies left in flight"};
    case Change::kRelaunchEscaped:
      return {"the escaped launches issued after each replay", "not issued"};
    case Change::kDrawAgain:
      return {"each step run twice: eager draws anew, the graph repeats itself",
              "a run compared with itself"};
  }
  throw std::logic_error{"a change that is no enumerator"};
}

}  // namespace

std::string_view name_of(Change change) { return words_of(change).name; }

std::string_view sham_name_of(Change change) { return words_of(change).sham; }

bool counts_changes(Change change) {
  switch (change) {
    case Change::kPoisonPadLanes:
    case Change::kPoisonFreed:
    case Change::kPoisonGraphPool:
    case Change::kDrawAgain:
    case Change::kTryScalars:
      return true;
    case Change::kPadLanesDoNotMatter:
    case Change::kLiveCapture:
    case Change::kFillBucket:
    case Change::kNeutralPadMetadata:
    case Change::kSerialise:
    case Change::kPatchScalars:
    case Change::kPatchPointers:
    case Change::kRefreshInputs:
    case Change::kReplaceCopySources:
    case Change::kRestoreOpaque:
    case Change::kOpaqueFromEager:
    case Change::kRestoreAfterCapture:
    case Change::kKeepFreed:
    case Change::kOtherGraph:
    case Change::kWaitForCopies:
    case Change::kRelaunchEscaped:
      return false;
  }
  throw std::logic_error{"a change that is no enumerator"};
}

}  // namespace graphsan::diagnose
