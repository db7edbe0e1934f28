/* A step in plain C: three tokens a batch, padded to four lanes, whose rows are written into a
 * paged cache by a slot mapping, and whose output is the sum of the row that each slot then names.
 *
 * `--step-options` plants what goes wrong with such steps:
 *   elide   the host code has no metadata while the graph is captured, and records no write
 *   wrap    a slot of -1 is taken as the last row
 *   crash   run() writes through a null pointer in step 1
 *   stray   the write goes 16 rows past the end of the cache
 *   idle    run() does nothing at all
 *   frozen  the first slot is passed by value, as it was when the graph was captured
 *   fail    prepare() of step 1 returns an error
 *   wrong-eager  the eager call leaves out its last lane, and the graph is right
 *
 * It has host functions only, so it runs with `--device host`. Its memory is GraphSan's. */
#include <graphsan/plugin.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 4, TOKENS = 3, BUCKET = 4, PAGES = 4, PAGE_SIZE = 16, DIM = 16 };

typedef struct step {
  const graphsan_host* host;
  char bug[16];
  float* cache;   /* [PAGES * PAGE_SIZE][DIM] */
  float* rows;    /* [BUCKET][DIM], refilled for each step */
  int64_t* slots; /* [BUCKET] */
  float* sums;    /* [BUCKET] */
  int64_t mapping[TOKENS];
  graphsan_cache declared;
  graphsan_input inputs[2];
  graphsan_output output;
} step;

static int has(const step* self, const char* bug) { return strcmp(self->bug, bug) == 0; }

typedef struct write_args {
  float* cache;
  const float* rows;
  const int64_t* slots;
  int64_t lanes;
  int64_t offset; /* rows added to each slot */
  int64_t wrap;   /* rows of the cache, or 0: negative slots are skipped */
  int64_t first;  /* lane i writes row first + i * PAGE_SIZE; negative: by the slot mapping */
} write_args;

static void write_rows(const void* arguments) {
  const write_args* args = arguments;
  for (int64_t lane = 0; lane < args->lanes; ++lane) {
    int64_t slot = args->slots[lane];
    if (args->first >= 0 && slot >= 0) slot = args->first + lane * PAGE_SIZE;
    if (slot < 0 && args->wrap == 0) continue;
    if (slot < 0) slot += args->wrap;
    memcpy(args->cache + (slot + args->offset) * DIM, args->rows + lane * DIM, DIM * sizeof(float));
  }
}

typedef struct sum_args {
  float* sums;
  const float* cache;
  const int64_t* slots;
  int64_t lanes;
} sum_args;

static void sum_rows(const void* arguments) {
  const sum_args* args = arguments;
  for (int64_t lane = 0; lane < args->lanes; ++lane) {
    float sum = 0;
    for (int d = 0; d < DIM && args->slots[lane] >= 0; ++d) {
      sum += args->cache[args->slots[lane] * DIM + d];
    }
    args->sums[lane] = sum;
  }
}

#define FIELD(type, member, pointer, written) \
  { #member, offsetof(type, member), sizeof(((type*)0)->member), pointer, written }

static const graphsan_field write_fields[] = {
    FIELD(write_args, cache, 1, 1), FIELD(write_args, rows, 1, 0),   FIELD(write_args, slots, 1, 0),
    FIELD(write_args, lanes, 0, 0), FIELD(write_args, offset, 0, 0), FIELD(write_args, wrap, 0, 0),
    FIELD(write_args, first, 0, 0)};

static const graphsan_field sum_fields[] = {
    FIELD(sum_args, sums, 1, 1), FIELD(sum_args, cache, 1, 0), FIELD(sum_args, slots, 1, 0),
    FIELD(sum_args, lanes, 0, 0)};

static const graphsan_host_kernel write_kernel = {
    sizeof(graphsan_host_kernel), "write_rows", write_rows,
    sizeof(write_args),           write_fields, sizeof(write_fields) / sizeof(write_fields[0])};

static const graphsan_host_kernel sum_kernel = {sizeof(graphsan_host_kernel),
                                                "sum_rows",
                                                sum_rows,
                                                sizeof(sum_args),
                                                sum_fields,
                                                sizeof(sum_fields) / sizeof(sum_fields[0])};

static int create(const graphsan_host* host, const char* options, void** made) {
  if (host->is_cuda) {
    host->fail(host, "this example has host functions only: run it with --device host");
    return 1;
  }
  step* self = calloc(1, sizeof(*self));
  if (self == NULL) return 1;
  self->host = host;
  strncpy(self->bug, options, sizeof(self->bug) - 1);
  self->cache = host->allocate(host, "cache", sizeof(float) * PAGES * PAGE_SIZE * DIM);
  self->rows = host->allocate(host, "rows", sizeof(float) * BUCKET * DIM);
  self->slots = host->allocate(host, "slots", sizeof(int64_t) * BUCKET);
  self->sums = host->allocate(host, "sums", sizeof(float) * BUCKET);
  *made = self;
  return 0;
}

static void destroy(void* self) { free(self); }

static int describe(void* made, graphsan_description* out) {
  step* self = made;
  self->declared = (graphsan_cache){.struct_size = sizeof(graphsan_cache),
                                    .name = "key",
                                    .kind = GRAPHSAN_KEY,
                                    .dtype = GRAPHSAN_F32,
                                    .pages = PAGES,
                                    .page_size = PAGE_SIZE,
                                    .heads = 1,
                                    .dim = DIM,
                                    .data = self->cache};
  out->name = "paged write";
  out->steps = STEPS;
  out->cache_count = 1;
  out->caches = &self->declared;
  return 0;
}

static int batch(void* made, int32_t number, graphsan_batch* out) {
  step* self = made;
  /* Sequence i grows in page i. */
  for (int i = 0; i < TOKENS; ++i) self->mapping[i] = i * PAGE_SIZE + number;
  out->tokens = TOKENS;
  out->bucket = BUCKET;
  out->slots = self->mapping;
  return 0;
}

static int prepare(void* made, const graphsan_call* call) {
  step* self = made;
  if (has(self, "fail") && call->step == 1) {
    self->host->fail(self->host, "the scheduler lost sequence 2");
    return 7;
  }
  float rows[TOKENS * DIM];
  int64_t slots[BUCKET];
  for (int i = 0; i < BUCKET; ++i) {
    slots[i] = call->step >= 0 && i < TOKENS ? i * PAGE_SIZE + call->step : -1;
  }
  for (int i = 0; i < TOKENS * DIM; ++i) rows[i] = (float)(100 * (call->step + 2) + i);
  /* Pad lanes keep what an earlier batch left in them. */
  return self->host->copy(self->host, call->stream, self->rows, rows, sizeof(rows)) ||
         self->host->copy(self->host, call->stream, self->slots, slots, sizeof(slots)) ||
         self->host->synchronize(self->host, call->stream);
}

static int run(void* made, const graphsan_call* call) {
  step* self = made;
  const graphsan_host* host = self->host;
  if (has(self, "idle")) return 0;
  if (has(self, "crash") && call->step == 1) *(volatile int*)NULL = 1;
  const int64_t lanes = call->arm == GRAPHSAN_EAGER ? call->tokens : call->bucket;
  const int left_out = has(self, "wrong-eager") && call->arm == GRAPHSAN_EAGER ? 1 : 0;
  const write_args write = {.cache = self->cache,
                            .rows = self->rows,
                            .slots = self->slots,
                            .lanes = lanes - left_out,
                            .offset = has(self, "stray") ? (PAGES - 1) * PAGE_SIZE : 0,
                            .wrap = has(self, "wrap") ? PAGES * PAGE_SIZE : 0,
                            .first = !has(self, "frozen") ? -1
                                     : call->step < 0     ? 0
                                                          : call->step};
  const sum_args sum = {self->sums, self->cache, self->slots, lanes};
  host->label(host, call->stream, "paged_write.c: write");
  if (!(has(self, "elide") && call->metadata != GRAPHSAN_METADATA_LIVE) &&
      host->launch(host, call->stream, &write_kernel, &write)) {
    return 1;
  }
  host->label(host, call->stream, "paged_write.c: sum");
  return host->launch(host, call->stream, &sum_kernel, &sum);
}

static int inputs(void* made, const graphsan_call* call, const graphsan_input** out,
                  int32_t* count) {
  step* self = made;
  (void)call;
  self->inputs[0] = (graphsan_input){.struct_size = sizeof(graphsan_input),
                                     .name = "rows",
                                     .data = self->rows,
                                     .lane_bytes = DIM * sizeof(float),
                                     .dtype = GRAPHSAN_F32,
                                     .is_activation = 1};
  self->inputs[1] = (graphsan_input){.struct_size = sizeof(graphsan_input),
                                     .name = "slot mapping",
                                     .data = self->slots,
                                     .lane_bytes = sizeof(int64_t),
                                     .dtype = GRAPHSAN_I64,
                                     .pad_value = -1};
  *out = self->inputs;
  *count = 2;
  return 0;
}

static int outputs(void* made, const graphsan_call* call, const graphsan_output** out,
                   int32_t* count) {
  step* self = made;
  (void)call;
  self->output = (graphsan_output){.struct_size = sizeof(graphsan_output),
                                   .name = "sums",
                                   .kind = GRAPHSAN_OUTPUT,
                                   .dtype = GRAPHSAN_F32,
                                   .heads = 1,
                                   .dim = 1,
                                   .data = self->sums};
  *out = &self->output;
  *count = 1;
  return 0;
}

static const graphsan_plugin_table table = {.abi_version = GRAPHSAN_PLUGIN_ABI,
                                            .struct_size = sizeof(graphsan_plugin_table),
                                            .name = "paged write",
                                            .create = create,
                                            .destroy = destroy,
                                            .describe = describe,
                                            .batch = batch,
                                            .prepare = prepare,
                                            .run = run,
                                            .inputs = inputs,
                                            .outputs = outputs};

const graphsan_plugin_table* graphsan_plugin(void) { return &table; }
