// What concerns the whole run: error budget, capacity, timings, limits, command, environment.

const TIMINGS_AT_FIRST = 12;

function runSection(report) {
  return panel(
      'run', 2, 'The whole run', budgetPanel(report), capacityPanel(report), timingPanel(report),
      limitsPanel(report), commandPanel(report), environmentPanel(report));
}

function capacityPanel(report) {
  if (!report.capacities.length) return null;
  const rows = report.capacities.map(
      (each) =>
          [each.dtype, whole(each.bytes_per_token), byteCount(each.memory_bytes),
           whole(each.tokens), each.basis]);
  return panel(
      'capacity', 3, 'Capacity',
      table('Capacity', ['kv dtype', 'bytes a token', 'memory', 'tokens that fit', 'basis'], rows));
}

function timingPanel(report) {
  const timed = report.cases.filter((entry) => entry.graph_ms > 0 || entry.eager_ms > 0);
  if (!timed.length) return null;
  const rows = timed.map(
      (entry) =>
          [caseTitle(entry), entry.config.mode, milliseconds(entry.eager_ms),
           milliseconds(entry.graph_ms), besideBf16(report, entry)]);
  const note = report.environment.device === 'host' ?
      'Times of the simulation; they say nothing about a GPU.' :
      'Median time of a step.';
  const made = table('Timing', ['case', 'mode', 'eager', 'graph', 'graph beside bf16'], rows);
  return panel(
      'timing', 3, 'Timing', muted(note),
      rows.length <= TIMINGS_AT_FIRST ?
          made :
          h('details', null, h('summary', null, `Times of ${count(rows.length, 'case')}`), made));
}

/** The graph arm's speed as a part of bf16's in the same mode, batch and group. */
function besideBf16(report, entry) {
  const base = report.cases.find(
      (other) => other.config.kv_dtype === 'bf16' && other.group === entry.group &&
          other.config.mode === entry.config.mode && other.config.batch === entry.config.batch &&
          other.graph_ms > 0);
  if (!base || !(entry.graph_ms > 0)) return '–';
  return `${Math.round(100 * base.graph_ms / entry.graph_ms)} % of its speed`;
}

function limitsPanel(report) {
  const words = report.limits.length ?
      bullets(report.limits) :
      muted('No limit was recorded for the run as a whole; each case lists its own.');
  return panel('limits', 3, 'What was not covered', words);
}

function commandPanel(report) {
  if (!report.command) return null;
  return panel('reproduce', 3, 'Reproduce the run', command(report.command));
}

function environmentPanel(report) {
  const it = report.environment;
  return panel('environment', 3, 'Environment', facts([
                 ['GraphSan', report.tool_version],
                 ['device', it.device],
                 ['device name', it.device_name],
                 ['compute capability', it.compute_capability],
                 ['driver', it.driver],
                 ['CUDA runtime', it.cuda_runtime],
                 ['fp8 conversion', it.conversion],
                 ['tracing', it.tracing],
                 ['operating system', it.operating_system],
                 ['started', report.started_at],
                 ['took', report.seconds ? `${figure(report.seconds)} s` : null],
               ]));
}
