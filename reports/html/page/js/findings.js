// Findings, what was ruled out, experiments, and what a reader should know besides.

function findingsPanel(details) {
  const list = details.findings.map(findingCard);
  if (!list.length) list.push(muted(noFinding(details)));
  return panel('findings', 3, 'Findings', list);
}

function noFinding(details) {
  if (details.failure) return 'None: the case did not finish.';
  return details.rows_differing ? 'Rows differ, and no mechanism was named.' : 'None.';
}

function findingCard(finding) {
  return h(
      'article', {class: 'finding'},
      h('h4', null, chip(finding.mechanism, 'mechanism'), ' ', statusChip(finding.status),
        h('span', {class: 'muted'}, ` from step ${finding.first_step}`)),
      h('p', {class: 'says'}, finding.summary),
      finding.where.items.length > 0 && wherePart(finding.where),
      finding.evidence.items.length > 0 &&
          part('Evidence', bullets(finding.evidence.items), leftOut(finding.evidence, 'line')),
      finding.experiment && part('Confirmed by', h('p', null, finding.experiment)),
      finding.sham && part('Sham', h('p', null, finding.sham)),
      finding.not_runnable && part('Not confirmed because', h('p', null, finding.not_runnable)),
      finding.fix && part('Fix', h('p', null, finding.fix)));
}

function part(title, ...children) {
  return h('div', {class: 'part'}, h('h5', null, title), h('div', null, children));
}

function wherePart(where) {
  const rows = where.items.map(
      (place) =>
          [`layer ${place.layer} ${place.cache}`,
           slotList(place),
           place.node ?? '–',
           place.kernel ? mono(place.kernel) : '–',
           place.source ? mono(place.source) : '–',
  ]);
  return part(
      'Where',
      table('Where the finding shows', ['cache', 'page:slot', 'node', 'kernel', 'source'], rows),
      leftOut(where, 'place'));
}

function slotList(place) {
  const perLane = place.cache === 'output' || place.cache === 'top-k';
  const shown =
      place.rows.slice(0, 12).map(([page, slot]) => perLane ? `lane ${slot}` : `${page}:${slot}`);
  const more = place.total - shown.length;
  const text = shown.join(', ') + (more > 0 ? ` and ${whole(more)} more` : '');
  return mono(text || '–');
}

function ruledOutPanel(details) {
  const list = details.ruled_out;
  if (!list.items.length) return null;
  const rows =
      list.items.map((entry) => [h('span', {class: 'mechanism-name'}, entry.mechanism), entry.why]);
  return panel(
      'ruled-out', 3, 'Ruled out', table('Mechanisms ruled out', ['mechanism', 'why'], rows, 'two'),
      leftOut(list, 'mechanism'));
}

function experimentsPanel(details) {
  const list = details.experiments;
  if (!list.items.length) return null;
  const rows = list.items.map(
      (entry) =>
          [entry.name, entry.change, experimentOutcome(entry), entry.sham_outcome || '–',
           entry.repeats || '–']);
  return panel(
      'experiments', 3, 'Experiments and shams',
      table(
          'Experiments',
          [
            'experiment', 'what was changed', 'what happened', 'sham: the same without the change',
            'repeats'
          ],
          rows),
      leftOut(list, 'experiment'));
}

function experimentOutcome(entry) {
  if (entry.not_runnable) return [chip('not runnable', 'suspected'), ` ${entry.not_runnable}`];
  return [
    entry.made_right ? chip('✓ made right', 'confirmed') : chip('✕ still differs', 'plain'),
    ` ${entry.outcome}`
  ];
}

function stepsPanel(details) {
  if (!details.steps.items.length) return null;
  const columns =
      ['step', 'batch', 'lanes', 'graph', 'nodes replayed', 'outputs overwritten', 'input digest'];
  const rows = details.steps.items.map(
      (step) =>
          [step.step,
           step.batch,
           `${step.tokens} of ${step.bucket}`,
           step.covered ? 'replayed' : `ran eagerly: ${step.uncovered_reason}`,
           step.covered ? whole(step.replayed_nodes) : '–',
           step.covered ? yesNo(step.nonce_overwritten) : '–',
           mono(step.input_digest),
  ]);
  return panel(
      'steps', 3, 'Steps', table('Steps', columns, rows), leftOut(details.steps, 'step'),
      controlLine(details), inputsPart(details), captureChanges(details));
}

function yesNo(value) {
  return value ? 'yes' : 'no';
}

function controlLine({stability, padded_eager_ran: padded}) {
  const padding = padded ? 'The padded-eager arm ran.' : 'The padded-eager arm did not run.';
  if (!stability.ran) return muted(`No control: eager was not run twice. ${padding}`);
  const noise = `largest score difference ${figure(stability.max_noise)}`;
  if (stability.stable)
    return muted(`Control: two eager runs agree bit for bit; ${noise}. ${padding}`);
  return muted(
      `Control: two eager runs differ in ${count(stability.rows_differing, 'row')} (${
          stability.unstable_caches.join(', ')}); ` +
      `${noise}. Value-level blame is withheld. ${padding}`);
}

function inputsPart(details) {
  const {items} = details.inputs;
  if (!items.length) return null;
  const rows = items.map(
      (input) =>
          [input.name, mono(input.captured), mono(input.replay),
           input.captured === input.replay ? 'same' : h('strong', {class: 'bad'}, 'moved'),
           input.contents_equal ? 'same' : h('strong', {class: 'bad'}, 'differ')]);
  return [
    h('h4', null, 'Inputs of the graph'),
    table(
        'Inputs',
        ['input', 'address at capture', 'address at replay', 'address', 'contents against eager'],
        rows),
    leftOut(details.inputs, 'input')
  ];
}

function captureChanges(details) {
  const {items} = details.capture_changes;
  if (!items.length) return null;
  const lines = items.map((change) => {
    const name = details.caches.items[change.cache]?.name ?? `cache ${change.cache}`;
    const fate =
        change.overwritten ? 'overwritten by history' : 'still there when the first step ran';
    return `${name}: ${count(change.rows.total, 'row')}, ${fate}${
        change.note ? `. ${change.note}` : ''}`;
  });
  return [
    h('h4', null, 'State that warm-up and capture changed'), bullets(lines),
    leftOut(details.capture_changes, 'change')
  ];
}

function notesPanel(details) {
  const {notes, not_covered: gaps} = details;
  if (!notes.items.length && !gaps.items.length) return null;
  return panel(
      'notes', 3, 'Notes and gaps',
      gaps.items.length > 0 && part('Not covered', bullets(gaps.items), leftOut(gaps, 'line')),
      notes.items.length > 0 && part('Notes', bullets(notes.items), leftOut(notes, 'note')));
}
