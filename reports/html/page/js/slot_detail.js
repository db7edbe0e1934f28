// One slot: both arms' bytes, decoded values, digests, origin, owner, and who wrote it.

const BYTES_A_LINE = 16;
const VALUES_AT_FIRST = 8;

function slotDetail(details, cacheAt, row) {
  const cache = details.caches.items[cacheAt];
  const history = rowHistory(details, cacheAt, row);
  const title =
      h('h4', null, `${cache.name} · ${slotName(cache, row)}`,
        h('span', {class: 'muted'}, ` row ${row}`));
  if (!history.length) return [title, muted('Neither arm wrote this slot in a recorded step.')];
  return [
    title, history.map((entry) => slotStep(details, cacheAt, cache, entry)), writers(details, cache)
  ];
}

function slotStep(details, cacheAt, cache, {step, class: id, detail}) {
  const entry = CLASS_BY_ID.get(id);
  const head =
      h('p', {class: 'slot-head'}, h('strong', null, `Step ${step}`), ' ',
        chip(`${entry.letter} ${classLabel(id)}`, `class-${id}`));
  if (id === 'same') return h('div', {class: 'slot-step'}, head, muted(entry.says));
  if (!detail) {
    return h(
        'div', {class: 'slot-step'}, head, h('p', null, entry.says),
        muted(
            'This row is not among those whose digests and bytes are listed in this page, to keep it small. The recording has them.'));
  }
  return h(
      'div', {class: 'slot-step'}, head, h('p', null, entry.says),
      slotFacts(details, cache, detail), slotBytes(cache, detail));
}

function slotFacts(details, cache, detail) {
  const places = detail.places.map((place) => PLACES[place]).filter(Boolean).join(', ');
  return facts([
    ['graph holds', originSentence(detail.origin, cache)],
    ['owner', detail.owner && `sequence ${detail.owner[0]}, position ${detail.owner[1]}`],
    ['written for', detail.lane >= 0 ? `lane ${detail.lane}` : null],
    ['place', places],
    ['values', valueSentence(detail.value)],
    [
      'padded eager',
      details.padded_eager_ran &&
          (detail.padded_eager ? 'shows it too: padding, not capture' : 'does not show it')
    ],
    ['XXH3-64 eager', mono(detail.eager)],
    ['XXH3-64 graph', mono(detail.graph)],
  ]);
}

function slotBytes(cache, detail) {
  if (!detail.eager_bytes && !detail.graph_bytes) return muted('Its bytes were not kept.');
  const eager = fromBase64(detail.eager_bytes ?? '');
  const graph = fromBase64(detail.graph_bytes ?? '');
  return [
    h('h5', null, `Values, ${cache.dtype}`),
    valuesTable(cache, eager, graph),
    h('h5', null, `Bytes, ${eager.length} in each arm`),
    hexDump(eager, graph),
  ];
}

function valuesTable(cache, eager, graph) {
  const [left, right] = [decodeElements(cache.dtype, eager), decodeElements(cache.dtype, graph)];
  const size = elementSize(cache.dtype);
  const differs = (i) => {
    const at = i * size;
    return eager.slice(at, at + size).some((byte, k) => byte !== graph[at + k]);
  };
  const all = Array.from({length: Math.max(left.length, right.length)}, (_, i) => i);
  const bad = all.filter(differs);
  const wrap = h('div', {class: 'values'});
  const draw = (shown) => replace(
      wrap,
      plainTable(
          `Values, ${cache.dtype}`, ['element', 'eager', 'graph'],
          shown.map((i) => [elementName(cache, i), valueText(left[i]), valueText(right[i])])));
  draw(bad.slice(0, VALUES_AT_FIRST));
  const more = h('button', {type: 'button', class: 'more'}, `Show all ${all.length} elements`);
  more.addEventListener('click', () => {
    draw(all);
    more.remove();
  });
  return [
    muted(`${bad.length} of ${count(all.length, 'element')} differ${
        bad.length > VALUES_AT_FIRST ? `; the first ${VALUES_AT_FIRST}:` : '.'}`),
    wrap, all.length > Math.min(bad.length, VALUES_AT_FIRST) && more
  ];
}

function valueText(value) {
  return h('span', {class: 'number'}, value === undefined ? '–' : elementText(value));
}

function elementName(cache, i) {
  return cache.heads > 1 ? `head ${Math.floor(i / cache.dim)} [${i % cache.dim}]` : `[${i}]`;
}

/** Lines of both arms below each other; bytes that differ are marked. */
function hexDump(eager, graph) {
  const lines = [];
  for (let at = 0; at < Math.max(eager.length, graph.length); at += BYTES_A_LINE) {
    const offset = at.toString(16).padStart(4, '0');
    lines.push(
        hexLine('eager', offset, eager, graph, at), hexLine('graph', offset, graph, eager, at));
  }
  return h(
      'div', {class: 'hex', role: 'group', tabindex: '0', 'aria-label': 'Bytes of both arms'},
      lines);
}

function hexLine(arm, offset, bytes, other, at) {
  const parts = [];
  for (let i = at; i < Math.min(at + BYTES_A_LINE, bytes.length); i += 1) {
    const text = hexByte(bytes[i]);
    parts.push(bytes[i] === other[i] ? text : h('mark', null, text), ' ');
  }
  return h(
      'div', {class: `hex-line ${arm}`}, h('span', {class: 'arm'}, arm),
      h('span', {class: 'offset'}, offset), h('code', null, parts));
}

/** Launches and nodes that name this cache in their operands, and what the findings say of it. */
function writers(details, cache) {
  const named = details.findings.flatMap(
      (finding) => finding.where.items
                       .filter(
                           (place) => place.cache === cache.kind && place.layer === cache.layer &&
                               (place.kernel || place.source || place.node !== undefined))
                       .map(
                           (place) =>
                               [chip(finding.mechanism, 'mechanism'), ' names ',
                                place.node !== undefined && `node ${place.node} `,
                                place.kernel && mono(place.kernel),
                                place.source && [' from ', mono(place.source)]]));
  const lines =
      details.graph.lines.items
          .filter((line) => namesCache(line.launch, cache) || namesCache(line.node, cache))
          .map(writerLine);
  if (!named.length && !lines.length) return null;
  return h(
      'div', {class: 'writers'}, h('h5', null, 'Work that names this cache'),
      bullets([...named, ...lines]));
}

function namesCache(work, cache) {
  const names = [cache.name, cache.buffer];
  return work?.operands?.addresses.some((use) => names.includes(use.owner_name)) ?? false;
}

function writerLine(line) {
  const work = line.node ?? line.launch;
  const where = line.node ? `segment ${line.segment}, node ${line.node.id}` :
      line.kind === 'missing' ? `eager launch ${line.launch.id}, no node in the graph` :
                                `eager launch ${line.launch.id}, run by an eager break`;
  return [mono(work.name), ` · ${work.source} · ${where}`];
}
