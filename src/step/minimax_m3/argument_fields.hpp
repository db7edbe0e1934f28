#pragma once

#include "device/kernel.hpp"
#include "step/minimax_m3/op_args.hpp"

// Field tables of the structs that several ops' arguments hold, for use inside a table of
// GRAPHSAN_ARGUMENT_FIELD entries.

#define GRAPHSAN_KV_CACHE_SCALARS(Args, cache)                                                    \
  GRAPHSAN_ARGUMENT_FIELD(Args, cache.page_stride),                                               \
      GRAPHSAN_ARGUMENT_FIELD(Args, cache.slot_stride),                                           \
      GRAPHSAN_ARGUMENT_FIELD(Args, cache.head_stride),                                           \
      GRAPHSAN_ARGUMENT_FIELD(Args, cache.slots), GRAPHSAN_ARGUMENT_FIELD(Args, cache.page_size), \
      GRAPHSAN_ARGUMENT_FIELD(Args, cache.heads), GRAPHSAN_ARGUMENT_FIELD(Args, cache.dtype),     \
      GRAPHSAN_ARGUMENT_FIELD(Args, cache.conversion)

#define GRAPHSAN_KV_CACHE_FIELDS(Args, cache)                                           \
  GRAPHSAN_ARGUMENT_FIELD(Args, cache.key), GRAPHSAN_ARGUMENT_FIELD(Args, cache.value), \
      GRAPHSAN_KV_CACHE_SCALARS(Args, cache)

// The same of an op that only reads the cache.
#define GRAPHSAN_READ_KV_CACHE_FIELDS(Args, cache)                               \
  ::graphsan::device::read_only(GRAPHSAN_ARGUMENT_FIELD(Args, cache.key)),       \
      ::graphsan::device::read_only(GRAPHSAN_ARGUMENT_FIELD(Args, cache.value)), \
      GRAPHSAN_KV_CACHE_SCALARS(Args, cache)

#define GRAPHSAN_CONTEXT_FIELDS(Args, context)              \
  GRAPHSAN_ARGUMENT_FIELD(Args, context.block_table),       \
      GRAPHSAN_ARGUMENT_FIELD(Args, context.lane_sequence), \
      GRAPHSAN_ARGUMENT_FIELD(Args, context.positions),     \
      GRAPHSAN_ARGUMENT_FIELD(Args, context.seq_lens),      \
      GRAPHSAN_ARGUMENT_FIELD(Args, context.table_stride),  \
      GRAPHSAN_ARGUMENT_FIELD(Args, context.page_size)
