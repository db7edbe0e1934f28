/* The C ABI of a check: what libgraphsan.so exports.
 *
 * A step is the table of functions of graphsan/plugin.h, handed over by the calling program instead
 * of found in a shared library. The check runs in the calling process, on the calling thread: a
 * step that crashes or hangs takes the process with it; `graphsan check --step lib.so` outlives
 * that.
 *
 * On CUDA the check runs on the calling thread's current device and in its primary context, as the
 * CUDA runtime and PyTorch do. What the step owns stays the step's. One check at a time: calls from
 * several threads wait for each other, and a check inside a step's function is refused.
 */
#ifndef GRAPHSAN_CHECK_H
#define GRAPHSAN_CHECK_H

#include <graphsan/plugin.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a program that was built against an older header can no longer run. */
#define GRAPHSAN_API_VERSION 1

/* What a check found. */
typedef struct graphsan_report graphsan_report;

/* How to check. A field that is zero or null means what is said first; texts are copied. */
typedef struct graphsan_check_options {
  size_t struct_size; /* sizeof(graphsan_check_options) */
  const char* device; /* "auto": CUDA where it can be used, else the host device; "cuda"; "host" */
  const char* step_options;     /* "": the text that create() is given */
  const char* capture_metadata; /* "dummy": what a capture knows of the batch; "none" */
  const char* capture_at;       /* "start": before any request; "live": over the history */
  const char* record; /* none: the file that keeps the recording; an earlier one is replaced */
  int64_t seed;       /* 1: the order of work that nothing orders, on the host device */
  int32_t carry;      /* not 0: differences are carried from step to step */
  int32_t reserved;
} graphsan_check_options;

/* How a call of this library ended; the numbers are the command line's exit codes. */
typedef enum graphsan_result {
  GRAPHSAN_OK = 0,        /* there is a report, whatever its verdict */
  GRAPHSAN_BAD_USAGE = 2, /* options or a table that no check can use, or an unwritable file */
  GRAPHSAN_FAILED = 4,    /* the tool or the device failed before there was a report */
  GRAPHSAN_NO_DEVICE = 77 /* "cuda" was asked for and cannot be used */
} graphsan_result;

/* GRAPHSAN_API_VERSION of the library, and its release as text. */
int graphsan_api_version(void);
const char* graphsan_version(void);

/* Why this thread's last call gave no result, and what to do about it; "" where it gave one. Valid
 * until the thread's next call. */
const char* graphsan_last_error(void);

/* Null where `device` ("auto", "cuda", "host") can be used, else why not and what to do. Creates no
 * CUDA context. Valid until the thread's next call. */
const char* graphsan_device_problem(const char* device);

/* Runs the step's arms, compares them, and looks for the mechanism. `options` may be null. Returns
 * a graphsan_result. A step that fails gives a report too, which names phase and step: verdict
 * "inconclusive" and exit code 4, or what had been seen before it failed. On GRAPHSAN_OK `*report`
 * is the caller's, for graphsan_report_free(); else it is null. */
int graphsan_check(const graphsan_plugin_table* step, const graphsan_check_options* options,
                   graphsan_report** report);

/* "agreed", "diverged", "hazard" or "inconclusive". Valid as long as the report. */
const char* graphsan_report_verdict(const graphsan_report* report);
/* What `graphsan check` would have exited with: 0, 1, 3 or 4. */
int graphsan_report_exit_code(const graphsan_report* report);
/* The report as "text" (its last line is the SUMMARY), "json" (docs/report.schema.json) or "html"
 * (one file, no network); null for another format. Valid as long as the report. */
const char* graphsan_report_text(graphsan_report* report, const char* format);
/* Null is nothing to free. */
void graphsan_report_free(graphsan_report* report);

#ifdef __cplusplus
}
#endif

#endif /* GRAPHSAN_CHECK_H */
