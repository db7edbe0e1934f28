#pragma once

// Every op of the step. One launch function an op: picks the kernel and the grid, and launches it
// on the device in its CUDA or host form. All asynchronous; nothing is allocated.
#include "step/minimax_m3/attention.hpp"
#include "step/minimax_m3/contiguous.hpp"
#include "step/minimax_m3/draw.hpp"
#include "step/minimax_m3/fill_float.hpp"
#include "step/minimax_m3/index_key_write.hpp"
#include "step/minimax_m3/indexer_score.hpp"
#include "step/minimax_m3/indexer_top_k.hpp"
#include "step/minimax_m3/mix.hpp"
#include "step/minimax_m3/norm_rope.hpp"
#include "step/minimax_m3/op_args.hpp"
#include "step/minimax_m3/reshape_and_cache.hpp"
