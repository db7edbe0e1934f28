// Groups of cases as tables: kv dtype and write path down, capture mode across.

const ROW_EXTRAS = [
  'batch', 'layout', 'generation', 'convert', 'fault', 'tokens', 'bucket', 'layers', 'tp',
  'page_size', 'context', 'step'
];

function matrix(report) {
  const groups = groupBy(report.cases.map((entry, at) => ({entry, at})), ({entry}) => entry.group);
  const tables = [...groups].map(([name, members]) => matrixGroup(name, members));
  return panel('matrix', 2, 'Matrix', muted('Choose a cell to see that case below.'), tables);
}

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

function matrixGroup(name, members) {
  const modes = [...new Set(members.map(({entry}) => entry.config.mode))];
  const extras = varyingExtras(members);
  const rows = groupBy(members, ({entry}) => rowName(entry, extras).join(' · '));
  const body = [...rows].map(([, cases]) => matrixRow(cases, modes, extras));
  return h(
      'table', {class: 'stack matrix'}, h('caption', null, name || 'Cases'),
      h('thead', null,
        h('tr', null, h('th', {scope: 'col'}, 'kv dtype · write path'),
          modes.map((mode) => h('th', {scope: 'col'}, mode)))),
      h('tbody', null, body));
}

/** What else tells the cases of one group apart. */
function varyingExtras(members) {
  return ROW_EXTRAS.filter((key) => new Set(members.map(({entry}) => entry.config[key])).size > 1);
}

function rowName(entry, extras) {
  const config = entry.config;
  return [
    config.kv_dtype, config.write_path,
    ...extras.map((key) => config[key] !== '' && `${key} ${config[key]}`)
  ].filter(Boolean);
}

function matrixRow(cases, modes, extras) {
  const [dtype, ...path] = rowName(cases[0].entry, extras);
  const head =
      h('th', {scope: 'row'},
        h('span', {class: 'cell'}, h('strong', null, dtype), ` ${path.join(' · ')}`));
  const cells = modes.map((mode) => {
    const inMode = cases.filter(({entry}) => entry.config.mode === mode);
    const content = inMode.length ? inMode.map(matrixCell) : h('span', {class: 'muted'}, 'not run');
    return h('td', {'data-label': mode}, h('span', {class: 'cell'}, content));
  });
  return h('tr', null, head, cells);
}

function matrixCell({entry, at}) {
  const verdict = verdictOf(entry);
  const mechanisms = entry.mechanisms.map(
      ([name, status]) =>
          h('span', {class: 'mechanism-name'}, status === 'confirmed' ? name : `${name}?`));
  return h(
      'button', {
        type: 'button',
        class: `case-cell ${verdict}`,
        'data-case': at,
        onclick: () => goToCase(at),
      },
      h('span', {class: 'verdict-word'},
        h('span', {'aria-hidden': 'true'}, `${VERDICTS[verdict].mark} `), verdict),
      mechanisms, ownTitle(entry) && h('span', {class: 'title'}, ownTitle(entry)));
}

function markSelected(at) {
  for (const cell of document.querySelectorAll('.case-cell')) {
    if (Number(cell.dataset.case) === at)
      cell.setAttribute('aria-current', 'true');
    else
      cell.removeAttribute('aria-current');
  }
}
