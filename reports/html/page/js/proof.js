// The one row that proves the verdict: what eager wrote against what the graph left.

const PROOF_ELEMENTS = 5;

function proofCard(report, lead) {
  const found = lead && findProof(lead);
  if (!found) return coverageCard(report);
  const {cache, row} = found;
  return h(
      'div', {class: 'proof'}, h('h2', null, 'The row that proves it'), proofPlace(cache, row),
      row.eager_bytes ? proofTable(cache, row) : muted('Its bytes were not kept.'),
      h('p', null, CLASS_BY_ID.get(row.class).says, ' ',
        h('strong', null, originSentence(row.origin, cache))),
      h('button', {type: 'button', id: 'show-proof', onclick: () => showSlot(lead.at, row)},
        'Show it in the slot map'));
}

function findProof(lead) {
  const details = lead.entry.details;
  if (!details || !lead.row) return null;
  const [step, cache, row] = lead.row;
  const found = details.rows.items.find(
      (each) => each.step === step && each.cache === cache && each.row === row);
  return found ? {row: found, cache: details.caches.items[cache]} : null;
}

function proofPlace(cache, row) {
  const owner = row.owner ? `sequence ${row.owner[0]}, position ${row.owner[1]}` : null;
  const words = [cache.name, slotName(cache, row.row), owner, `step ${row.step}`];
  return h(
      'p', {class: 'place'},
      chip(`${CLASS_BY_ID.get(row.class).letter} ${row.class}`, `class-${row.class}`), ' ',
      words.filter(Boolean).join(' · '));
}

function proofTable(cache, row) {
  const eager = fromBase64(row.eager_bytes);
  const graph = fromBase64(row.graph_bytes);
  const first = firstDifference(cache.dtype, eager, graph);
  const columns = ['', ...Array.from({length: PROOF_ELEMENTS}, (_, i) => `[${first + i}]`)];
  const line = (name, bytes) => [name, ...proofValues(cache.dtype, bytes, first)];
  return h(
      'div', {class: 'proof-table'},
      plainTable(
          `First differing elements, ${cache.dtype}`, columns,
          [line('expected (eager)', eager), line('graph', graph)]),
      facts([
        ['XXH3-64 expected', mono(row.eager)], ['XXH3-64 graph', mono(row.graph)],
        ['element type', cache.dtype]
      ]));
}

function proofValues(dtype, bytes, first) {
  const size = elementSize(dtype);
  const values = decodeElements(dtype, bytes).slice(first, first + PROOF_ELEMENTS);
  return values.map((value, i) => {
    const raw =
        Array.from(bytes.slice((first + i) * size, (first + i + 1) * size), hexByte).join(' ');
    return [h('span', {class: 'number'}, elementText(value)), h('span', {class: 'raw'}, raw)];
  });
}

/** A small table that keeps its columns on narrow screens. */
function plainTable(caption, columns, rows) {
  return h(
      'table', {class: 'plain'}, h('caption', {class: 'unseen'}, caption),
      h('thead', null,
        h('tr', null,
          columns.map((column) => h(column ? 'th' : 'td', column && {scope: 'col'}, column)))),
      h('tbody', null,
        rows.map(
            ([name, ...cells]) =>
                h('tr', null, h('th', {scope: 'row'}, name),
                  cells.map((cell) => h('td', null, cell))))));
}

/** Where nothing diverged: how much was compared, so that "agreed" is more than a word. */
function coverageCard(report) {
  const total = (key) => report.cases.reduce((sum, entry) => sum + (entry.details?.[key] ?? 0), 0);
  return h('div', {class: 'proof'}, h('h2', null, 'What was compared'), facts([
             ['rows compared', whole(total('rows_compared'))],
             ['rows left out', whole(total('rows_left_out'))],
             ['graph steps replayed', whole(total('replays'))],
             ['graph nodes', whole(total('nodes'))],
           ]));
}
