/* The C ABI of a step under test.
 *
 * A plug-in is a shared library that exports graphsan_plugin(). GraphSan loads it for
 * `graphsan check --step lib.so`, makes one step object, and runs that object's batches eagerly and
 * as a CUDA graph, in the order create -> describe -> batch(0..n-1) -> for each arm: reset ->
 * history -> (prepare -> run) for each step. A capture is prepare -> run while the stream captures.
 *
 * Rules that hold throughout:
 *  - Plain C. Structs that may grow begin with struct_size: GraphSan sets it in those that it hands
 *    out to be filled, and zeroes the rest; a plug-in sets it in the entries of its arrays. Fields
 *    are only ever added at the end.
 *  - A function returns 0 when all went well. Anything else ends the case as a failure of the step;
 *    call host->fail() before returning, so that the report can say why. Exceptions must not leave.
 *  - All device work goes to the stream that a call names. Only prepare() may wait for it.
 *  - Memory that a struct points to stays valid until the next call of the same function.
 *  - One thread calls, one call at a time.
 */
#ifndef GRAPHSAN_PLUGIN_H
#define GRAPHSAN_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a plug-in that was built against an older header can no longer run. */
#define GRAPHSAN_PLUGIN_ABI 1

/* Element types. Values are part of the ABI. */
typedef enum graphsan_dtype {
  GRAPHSAN_U8 = 0,
  GRAPHSAN_I32 = 1,
  GRAPHSAN_I64 = 2,
  GRAPHSAN_F32 = 3,
  GRAPHSAN_BF16 = 4,
  GRAPHSAN_FP8_E4M3 = 5,
  GRAPHSAN_FP8_E5M2 = 6
} graphsan_dtype;

/* What a buffer holds. */
typedef enum graphsan_kind {
  GRAPHSAN_KEY = 0,
  GRAPHSAN_VALUE = 1,
  GRAPHSAN_INDEX_KEY = 2, /* written at index_slots */
  GRAPHSAN_SCALE = 3,
  GRAPHSAN_TOP_K = 4,  /* outputs only: block ids, GRAPHSAN_I32, -1 for none, compared as sets;
                          set top_k and block_size of the description too */
  GRAPHSAN_OUTPUT = 5, /* outputs only: compared bit by bit */
  GRAPHSAN_OTHER = 6
} graphsan_kind;

/* Rows [first, last) where writes do not matter: a null page, a reserved slot. */
typedef struct graphsan_rows {
  int64_t first;
  int64_t last;
} graphsan_rows;

/* A paged buffer: pages x slots x heads x dim elements, the last dimension contiguous. Row r lies
 * in page r / page_size, slot r % page_size; that is the number that a slot mapping holds. Strides
 * are bytes, so NHD, HND and interleaved K|V are all expressed by them; 0 means contiguous. */
typedef struct graphsan_cache {
  size_t struct_size;
  const char* name; /* unique, such as "layer 1 key" */
  int32_t kind;     /* graphsan_kind */
  int32_t layer;
  int32_t dtype; /* graphsan_dtype */
  int32_t sink_count;
  int64_t pages;
  int64_t page_size;
  int64_t heads;
  int64_t dim;
  int64_t page_stride;
  int64_t slot_stride;
  int64_t head_stride;
  void* data; /* row 0, head 0; from host->allocate(), or the plug-in's own device memory */
  const graphsan_rows* sinks;
} graphsan_cache;

/* A result with one row a lane: lanes x heads x dim elements. GraphSan fills the first `tokens`
 * lanes before a run and reads them after it, so the memory has as many at least. Every arm of a
 * step declares the same outputs, in the same order; where they lie may differ. */
typedef struct graphsan_output {
  size_t struct_size;
  const char* name;
  int32_t kind; /* GRAPHSAN_OUTPUT or GRAPHSAN_TOP_K */
  int32_t layer;
  int32_t dtype;
  int32_t reserved;
  int64_t heads;
  int64_t dim;
  int64_t lane_stride; /* bytes; 0: contiguous */
  int64_t head_stride;
  void* data; /* lane 0 */
} graphsan_output;

/* A buffer with one entry a lane that prepare() refills. Naming inputs is what tells a moved or
 * stale buffer from a missing write. GraphSan reads the lanes of the call, and experiments write
 * them: `tokens` with GRAPHSAN_EAGER, else `bucket`. The memory has as many at least. */
typedef struct graphsan_input {
  size_t struct_size;
  const char* name;
  void* data; /* lane 0, where this call's values are */
  int64_t lane_bytes;
  int64_t lane_stride; /* bytes; 0: contiguous */
  int32_t dtype;
  int32_t is_activation; /* pad lanes hold values, not indices */
  int64_t pad_value; /* what a pad lane must hold where it is no activation: -1 in slot mappings */
} graphsan_input;

/* State that lives on from step to step and that no comparison restores: counters, workspaces. */
typedef struct graphsan_state {
  size_t struct_size;
  const char* name;
  void* data;
  int64_t bytes;
} graphsan_state;

/* What a step is. All buffers stay where they are for the life of the step object, but for inputs
 * and outputs, which are asked for with each call. */
typedef struct graphsan_description {
  size_t struct_size;
  const char* name;
  int32_t steps; /* batches to run, 2 at least: with inputs that never change nothing is proven */
  int32_t cache_count;
  const graphsan_cache* caches;
  int32_t state_count;
  int32_t top_k;      /* blocks that an indexer selects; 0: it selects none */
  int64_t block_size; /* keys of such a block */
  const graphsan_state* states;
} graphsan_description;

/* The batch of one step. Arrays have `tokens` entries. */
typedef struct graphsan_batch {
  size_t struct_size;
  int32_t tokens;       /* real lanes */
  int32_t bucket;       /* lanes of the graph that serves it; tokens where nothing is padded */
  const int64_t* slots; /* row of key and value that each lane must write; negative: none */
  const int64_t* index_slots; /* the same for index keys; null: as slots */
  const int32_t* sequences;   /* null: lane number */
  const int64_t* positions;   /* null: unknown */
  const char* kind;           /* "decode", "prefill", "mixed"; null: "decode" */
  const char* eager_reason;   /* set: the engine runs this step without a graph, and why */
} graphsan_batch;

/* Which buffers and batch sizes a call uses. */
typedef enum graphsan_arm {
  GRAPHSAN_EAGER = 0,        /* exactly `tokens` lanes */
  GRAPHSAN_PADDED_EAGER = 1, /* the graph's buffers, padded to `bucket`, no graph */
  GRAPHSAN_GRAPH = 2         /* the graph's buffers: what is captured, and what replays read */
} graphsan_arm;

/* What a warm-up or a capture knows of the batch. */
typedef enum graphsan_metadata {
  GRAPHSAN_METADATA_LIVE = 0,  /* batch `step` */
  GRAPHSAN_METADATA_DUMMY = 1, /* `step` is -1: `bucket` pad lanes */
  GRAPHSAN_METADATA_NONE = 2   /* `step` is -1: as an engine that has no metadata while capturing */
} graphsan_metadata;

typedef struct graphsan_call {
  size_t struct_size;
  int32_t step; /* -1: no batch of the run */
  int32_t arm;  /* graphsan_arm */
  int32_t tokens;
  int32_t bucket;
  int32_t metadata;  /* graphsan_metadata */
  int32_t capturing; /* the stream captures: run() only */
  void* stream;      /* cudaStream_t on CUDA */
} graphsan_call;

/* One captured piece of a step, then an op that runs eagerly after it at each replay. */
typedef struct graphsan_segment {
  size_t struct_size;
  void* graph;            /* cudaGraph_t; null: only an eager op */
  void* exec;             /* cudaGraphExec_t made from it */
  const char* eager_name; /* null: nothing follows */
  int (*eager)(void* argument, void* stream);
  void* argument;
} graphsan_segment;

/* A field of a kernel's argument struct, for reports and experiments on the host device. */
typedef struct graphsan_field {
  const char* name;
  uint32_t offset;
  uint32_t size;
  int32_t is_pointer;
  int32_t is_written; /* a pointer through which the kernel may write */
} graphsan_field;

/* A function of the host device: its argument struct is copied when it is launched, and it is
 * called when the stream gets to it, once for the whole grid. Must outlive the step. */
typedef struct graphsan_host_kernel {
  size_t struct_size;
  const char* name;
  void (*run)(const void* arguments);
  size_t argument_bytes;
  const graphsan_field* fields;
  int32_t field_count;
} graphsan_host_kernel;

/* What GraphSan offers to a plug-in; valid for the life of the step object. */
typedef struct graphsan_host {
  size_t struct_size;
  int32_t is_cuda; /* 0: the host device, where pointers are host memory and there are no streams */
  int32_t reserved;
  /* Tells why the call that is about to return non-zero failed; the text is copied. */
  void (*fail)(const struct graphsan_host* host, const char* why);
  /* Device memory, zero-filled, with guard zones at both ends that nobody may write; freed after
   * destroy(). Null when there is none left. In create() only. */
  void* (*allocate)(const struct graphsan_host* host, const char* name, size_t bytes);
  /* Copies between any two addresses, or fills, in stream order. A captured copy reads `from` again
   * at each replay: never a local variable. */
  int (*copy)(const struct graphsan_host* host, void* stream, void* to, const void* from,
              size_t bytes);
  int (*fill)(const struct graphsan_host* host, void* stream, void* to, uint8_t value,
              size_t bytes);
  /* Waits for the stream. Refused while it captures, as CUDA refuses it. */
  int (*synchronize)(const struct graphsan_host* host, void* stream);
  /* Host device only: launches a copy of the arguments. */
  int (*launch)(const struct graphsan_host* host, void* stream, const graphsan_host_kernel* kernel,
                const void* arguments);
  /* Names the work that follows on the stream, such as "layer 1 / insert" or "insert_kv.py:42",
   * until the next label() on it or the end of the call; null: no more. The text is copied.
   * Launches that GraphSan does not make itself, such as a framework's, are named as well: in a
   * capture, the nodes that the stream gained; else, where CUPTI can be used, what was launched in
   * between. */
  void (*label)(const struct graphsan_host* host, void* stream, const char* source);
  /* Runs an op that a breakable graph leaves out: now, and again between the segments at each
   * replay where the stream is captured. `argument` must stay valid for the life of the step. */
  int (*run_eagerly)(const struct graphsan_host* host, void* stream, const char* name,
                     int (*op)(void* argument, void* stream), void* argument);
} graphsan_host;

/* A step's functions. `self` is what create() made. Those marked optional may be null. */
typedef struct graphsan_plugin_table {
  uint32_t abi_version; /* GRAPHSAN_PLUGIN_ABI */
  uint32_t reserved;
  size_t struct_size;
  const char* name;
  /* Makes a step. `options` is the text of --step-options, or "". Where it fails, it frees what it
   * made: destroy() is not called. Memory from host->allocate() is GraphSan's to free. */
  int (*create)(const graphsan_host* host, const char* options, void** self);
  /* Frees what create() made, once, also where a later function failed. */
  void (*destroy)(void* self);
  int (*describe)(void* self, graphsan_description* out);
  int (*batch)(void* self, int32_t step, graphsan_batch* out);
  /* Puts this call's inputs in place. Pad lanes get slot -1 and keep an earlier batch's values. */
  int (*prepare)(void* self, const graphsan_call* call);
  /* Issues the step's work to the stream, and nothing else. */
  int (*run)(void* self, const graphsan_call* call);
  /* Optional: what a fresh process would hold. GraphSan fills the caches itself, with
   * bytes that are finite in every dtype and no zeros, so that a stray write of zeros shows. */
  int (*reset)(void* self, void* stream);
  /* Optional: writes the rows of the context that was there before step 0. */
  int (*history)(void* self, void* stream);
  /* Optional: inputs and outputs of a call. Without inputs nothing proves that the steps' inputs
   * differ, and no check agrees. `call->stream` is null, and nothing may be issued. */
  int (*inputs)(void* self, const graphsan_call* call, const graphsan_input** out, int32_t* count);
  int (*outputs)(void* self, const graphsan_call* call, const graphsan_output** out,
                 int32_t* count);
  /* Optional, on CUDA: the step's own capture of the batch or bucket that `call` names. Its graphs
   * stay valid until release(). Without a segment (a count of 0), GraphSan captures run(). */
  int (*capture)(void* self, const graphsan_call* call, const graphsan_segment** out,
                 int32_t* count, void** captured);
  void (*release)(void* self, void* captured);
} graphsan_plugin_table;

/* The one symbol of a plug-in. The table is static. */
const graphsan_plugin_table* graphsan_plugin(void);

#ifdef __cplusplus
}
#endif

#endif /* GRAPHSAN_PLUGIN_H */
