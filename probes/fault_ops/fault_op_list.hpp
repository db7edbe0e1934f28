#pragma once

#include "probes/branch-at-capture/fault_ops.hpp"
#include "probes/capture-side-effect/fault_ops.hpp"
#include "probes/fault_ops/fault_common_ops.hpp"
#include "probes/frozen-rng/fault_ops.hpp"
#include "probes/missing-reset/fault_ops.hpp"
#include "probes/numeric-noise/fault_ops.hpp"
#include "probes/padding-leak/fault_ops.hpp"
#include "probes/padding-metadata/fault_ops.hpp"
#include "probes/padding-write/fault_ops.hpp"
#include "probes/topk-tie/fault_ops.hpp"
#include "probes/uninitialized-read/fault_ops.hpp"
#include "probes/unstable-eager/fault_ops.hpp"
#include "probes/wrong-graph/fault_ops.hpp"

// Every element op, X(Type) each; the kernels are instantiated from this list.
#define GRAPHSAN_FAULT_OPS(X) \
  X(SlotsFromStart)           \
  X(BusyWait)                 \
  X(CopyFloat)                \
  X(ScaleValues)              \
  X(FirstBlocks)              \
  X(RunOfSlots)               \
  X(ClampLengths)             \
  X(StochasticRound)          \
  X(ClampSlots)               \
  X(WriteByPage)              \
  X(ScaleOverLanes)           \
  X(PickLanesByProduct)       \
  X(RoundToUnit)              \
  X(KeepBelowTotal)           \
  X(ReorderSequences)         \
  X(AddMaskedKey)             \
  X(AddMaskedValue)           \
  X(ChooseSlots)              \
  X(PublishByLastSplit)       \
  X(AddSplit)                 \
  X(StoreSum)                 \
  X(PackSlots)                \
  X(LeaveTrialResults)        \
  X(CorrectValues)            \
  X(DropFlagged)              \
  X(AddPartial)               \
  X(SumOfSplits)              \
  X(CountRun)                 \
  X(AddInArrivalOrder)        \
  X(AddUnlocked)              \
  X(PreferLaterOfTies)
