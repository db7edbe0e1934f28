// Eager launches beside the graph's nodes, by segment, with the eager breaks between them.

const LINE_WORDS = {
  matched: '= matched',
  missing: '✕ missing',
  extra: '+ extra',
  'other-grid': '≠ grid',
  'other-arguments': '≠ arguments',
  node: 'node',
};

function launchesPanel(details) {
  const {lines, segments} = details.graph;
  if (!lines.items.length) return null;
  const rows = [];
  let segment = null;
  for (const line of lines.items) {
    if (line.segment !== segment && line.segment >= 0)
      rows.push(segmentLine(segments, line.segment));
    if (line.segment >= 0) segment = line.segment;
    rows.push(lineBox(line, details.graph.field_sets));
  }
  return panel(
      'launches', 3, 'Launches beside nodes', muted(launchTally(lines.items)),
      h('div', {class: 'launches'}, launchHead(), rows), leftOut(lines, 'line'),
      breakWords(segments));
}

function launchTally(items) {
  const totals = groupBy(items, (line) => line.kind);
  const words = [...totals].map(([kind, lines]) => `${lines.length} ${kind}`).join(', ');
  return `${words}. Open a line for its arguments and for who owns the addresses in them.`;
}

function launchHead() {
  return h('div', {class: 'launch-head', 'aria-hidden': 'true'}, [
    'launch in eager', 'against', 'node in the graph', 'differs'
  ].map((word) => h('span', null, word)));
}

function segmentLine(segments, number) {
  const found = segments.find((each) => each.segment === number);
  const words = found ? `segment ${number} · bucket ${found.bucket} · ${
                            count(found.nodes, 'node')}, ${count(found.edges, 'edge')}` :
                        `segment ${number}`;
  return h(
      'div', {class: 'segment'}, words,
      found?.break_after && h('span', null, ` · then eager break: ${found.break_after}`));
}

function breakWords(segments) {
  const breaks = segments.filter((each) => each.break_after).map((each) => each.break_after);
  return muted(
      breaks.length ? `${count(segments.length, 'segment')}; eager breaks: ${breaks.join(', ')}.` :
                      `${count(segments.length, 'segment')}, no eager break.`);
}

function lineBox(line, fieldSets) {
  const good = line.kind === 'matched' || line.kind === 'node';
  const side = (work, none) =>
      h('span', {class: 'work'}, work ? workName(work) : h('span', {class: 'none'}, none));
  const ranEagerly = line.kind === 'matched' && line.segment < 0;
  const box =
      h('details', {class: `launch ${good ? '' : 'unlike'}`},
        h('summary', null, side(line.launch, 'no launch'),
          h('span', {class: 'kind'}, LINE_WORDS[line.kind] ?? line.kind),
          side(line.node, ranEagerly ? 'run by an eager break' : 'no node'),
          h('span', {class: 'differs'}, (line.differs ?? []).join(', '))));
  box.addEventListener('toggle', () => {
    if (box.open && box.children.length === 1) box.append(workPair(line, fieldSets));
  });
  return box;
}

function workName(work) {
  return [h('code', null, `${work.id} ${work.name}`), h('span', {class: 'source'}, work.source)];
}

function workPair(line, fieldSets) {
  const differs = new Set(line.differs ?? []);
  const side = (title, work) =>
      work && h('div', null, h('h5', null, title), workBody(work, fieldSets, differs));
  return h(
      'div', {class: 'work-pair'}, side('Launch in eager', line.launch),
      side('Node in the graph', line.node));
}

function workBody(work, fieldSets, differs) {
  const operands = work.operands;
  if (!operands)
    return muted(
        'Its arguments were left out of this page to keep it small. The recording has them.');
  const kernel = work.type === 'kernel';
  return [
    facts([
      ['type', work.type], ['grid', kernel && operands.grid.join(' × ')],
      ['block', kernel && operands.block.join(' × ')],
      ['shared memory', kernel && byteCount(operands.shared_bytes)],
      [
        'copy',
        operands.copy &&
            `${operands.copy.bytes} B from ${operands.copy.source} to ${operands.copy.destination}`
      ],
      [
        'fill',
        operands.fill &&
            `${operands.fill.bytes} B at ${operands.fill.destination} with ${operands.fill.value}`
      ]
    ]),
    argumentRows(operands, fieldSets, differs),
  ];
}

function argumentRows(operands, fieldSets, differs) {
  const owners = new Map(operands.addresses.map((use) => [use.offset, use]));
  const fields = operands.fields === undefined ? [] : fieldSets[operands.fields];
  const named = fields.map(
      ([name, offset, size, pointer]) =>
          argumentRow(operands, owners, {name, offset, size, pointer}, differs));
  const known = new Set(fields.map(([, offset]) => offset));
  const others = operands.addresses.filter((use) => !known.has(use.offset))
                     .map((use) => [use.field, mono(use.address), ownerWords(use)]);
  const rows = [...named, ...others];
  if (rows.length) return table('Arguments', ['field', 'value', 'owner'], rows);
  return operands.arguments.map(
      ([offset, bytes, total]) =>
          h('div', {class: 'hex'},
            h('div', {class: 'hex-line'}, h('span', {class: 'offset'}, `+${offset}, ${total} B`),
              h('code', null, Array.from(fromBase64(bytes), hexByte).join(' ')))));
}

function argumentRow(operands, owners, field, differs) {
  const use = owners.get(field.offset);
  const name = differs.has(field.name) ? h('mark', null, field.name) : field.name;
  if (use) return [name, mono(use.address), ownerWords(use)];
  return [name, mono(fieldText(operands, field)), ''];
}

function ownerWords(use) {
  return use.owner_name ? `${use.owner_name} (${use.owner})` : use.owner;
}

/**
 * The bytes of a field as an integer, with the float that they would be where that is plausible.
 */
function fieldText(operands, {offset, size, pointer}) {
  const bytes = bytesAt(operands.arguments, offset, size);
  if (!bytes) return '–';
  const view = new DataView(bytes.buffer);
  const hex = `0x${Array.from(bytes, hexByte).reverse().join('')}`;
  if (pointer || ![1, 2, 4, 8].includes(size)) return hex;
  const integer = {
    1: () => view.getUint8(0),
    2: () => view.getInt16(0, true),
    4: () => view.getInt32(0, true),
    8: () => view.getBigInt64(0, true)
  }[size]();
  const real = size === 4 ? view.getFloat32(0, true) : 0;
  const plausible = Math.abs(real) > 1e-20 && Math.abs(real) < 1e20;
  return plausible ? `${figure(real)} (${integer})` : String(integer);
}

function bytesAt(list, offset, size) {
  for (const [start, text] of list) {
    const bytes = fromBase64(text);
    if (offset >= start && offset + size <= start + bytes.length)
      return bytes.slice(offset - start, offset - start + size);
  }
  return null;
}
