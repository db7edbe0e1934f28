// What of the slot map is shown, and the totals above it.

function classTotals(details) {
  if (!details.classes.length) return null;
  const groups = groupBy(details.classes, (entry) => `${entry.cache}|${entry.class}`);
  const rows = [...groups.values()].map(
      (entries) =>
          [details.caches.items[entries[0].cache]?.name ?? `cache ${entries[0].cache}`,
           chip(
               `${CLASS_BY_ID.get(entries[0].class).letter} ${entries[0].class}`,
               `class-${entries[0].class}`),
           whole(entries.reduce((sum, entry) => sum + entry.rows.total, 0)),
           entries.map((entry) => entry.step).join(', '),
           tallyWords(entries, 'origins'),
           tallyWords(entries, 'places'),
  ]);
  return h(
      'details', {class: 'totals'}, h('summary', null, 'Differing rows by cache and class'),
      table(
          'Differing rows by cache and class',
          ['cache', 'class', 'rows', 'steps', 'origin of the bytes', 'place'], rows));
}

function tallyWords(entries, key) {
  const totals = new Map();
  for (const entry of entries) {
    for (const [word, times] of Object.entries(entry[key]))
      totals.set(word, (totals.get(word) ?? 0) + times);
  }
  return [...totals].map(([word, times]) => `${word} ${whole(times)}`).join(', ') || '–';
}

function filters(view) {
  const layers = [...new Set(view.details.caches.items.map((cache) => cache.layer))];
  const steps = [
    ...new Set([...view.details.writes, ...view.details.classes].map((entry) => entry.step))
  ].sort((a, b) => a - b);
  return h(
      'div', {class: 'filters'},
      chooser(
          'Layer', layers, view.layer,
          (value) => {
            view.layer = value;
            redraw(view);
          }),
      chooser(
          'Step', steps, view.step,
          (value) => {
            view.step = value;
            redraw(view);
          }),
      pageChooser(view),
      h('div', {class: 'legend', role: 'group', 'aria-label': 'Show classes'},
        CLASSES.map((entry) => legendKey(view, entry))));
}

function chooser(name, values, chosen, onChoice) {
  const options = [['', 'all'], ...values.map((value) => [String(value), String(value)])];
  const select = h(
      'select', null,
      options.map(
          ([value, text]) => h('option', {value, selected: value === String(chosen ?? '')}, text)));
  select.addEventListener(
      'change', () => onChoice(select.value === '' ? null : Number(select.value)));
  return h('label', {class: 'chooser'}, `${name} `, select);
}

/** Shows one page alone, touched or not: the way to a page of a large pool. */
function pageChooser(view) {
  const input = h('input', {type: 'number', min: '0', placeholder: 'touched'});
  input.addEventListener('change', () => {
    view.page = input.value === '' ? null : Number(input.value);
    redraw(view);
  });
  return h('label', {class: 'chooser'}, 'Page ', input);
}

function legendKey(view, entry) {
  const button =
      h('button', {type: 'button', class: 'key', 'aria-pressed': 'true', title: entry.says},
        h('span', {class: `slot class-${entry.id}`, 'aria-hidden': 'true'}, entry.letter),
        classLabel(entry.id));
  button.addEventListener('click', () => {
    const hide = !view.hidden.delete(entry.id);
    if (hide) view.hidden.add(entry.id);
    button.setAttribute('aria-pressed', String(!hide));
    redraw(view);
  });
  return button;
}
