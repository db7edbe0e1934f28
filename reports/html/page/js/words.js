// Words and figures: what classes, origins and verdicts mean to a reader.

const CLASSES = [
  {
    id: 'missing',
    letter: 'M',
    says: 'The slot mapping names this row and eager wrote it; the graph did not.'
  },
  {
    id: 'stray',
    letter: 'S',
    says: 'The graph wrote this row. Nothing asked for it, and eager left it alone.'
  },
  {id: 'wrong-value', letter: 'W', says: 'Both arms wrote this row, with different bytes.'},
  {
    id: 'eager-stray',
    letter: 'E',
    says: 'Eager itself wrote a row that the slot mapping does not name.'
  },
  {
    id: 'eager-missing',
    letter: 'N',
    says: 'The slot mapping names this row and eager itself did not write it.'
  },
  {id: 'same', letter: '=', label: 'written the same', says: 'Both arms wrote the same bytes.'},
  {
    id: 'sink',
    letter: 'o',
    says: 'A declared sink: writes here do not matter and are only counted.'
  },
  {
    id: 'guard',
    letter: 'G',
    label: 'guard zone',
    says: 'A guard zone around memory that GraphSan allocated. Nobody may write it.'
  },
  {id: 'untouched', letter: '·', says: 'Neither arm wrote this row.'},
];
const CLASS_BY_ID = new Map(CLASSES.map((entry, rank) => [entry.id, {...entry, rank}]));

function classLabel(id) {
  const entry = CLASS_BY_ID.get(id);
  return entry?.label ?? id;
}

const VERDICTS = {
  agreed: {mark: '✓', says: 'Eager and graph agree'},
  diverged: {mark: '✕', says: 'Eager and graph differ'},
  hazard: {mark: '!', says: 'All agree, but a finding stands'},
  inconclusive: {mark: '?', says: 'No answer'},
  failed: {mark: '⊘', says: 'The case ended in a tool or device failure'},
};

function verdictOf(entry) {
  return entry.failed ? 'failed' : entry.verdict;
}

function verdictChip(verdict) {
  return h(
      'span', {class: `chip verdict ${verdict}`},
      h('span', {'aria-hidden': 'true'}, VERDICTS[verdict]?.mark ?? ''), ` ${verdict}`);
}

const PLACES = {
  'last-row': 'the pool\'s last row',
  'null-page': 'the null page',
  'live-row': 'a row of a live sequence',
  'earlier-batch': 'a row that an earlier step wrote',
  'guard-zone': 'a guard zone',
};

/** Where the bytes found in the graph's row come from, as a sentence. */
function originSentence(origin, cache) {
  const sentences = {
    unknown: () => 'Nothing that eager wrote has these bytes.',
    untouched: () => 'Still what was there before the step: nobody wrote it.',
    'this-row': () => 'This row\'s own bytes.',
    'other-row': () =>
        `The bytes that this step owed to ${slotName(cache, origin.row)}: misplaced.`,
    'earlier-step': () => `What lane ${origin.lane ?? '?'} wrote in step ${origin.step}: stale.`,
    'pad-lane': () => `The bytes of pad lane ${origin.lane ?? '?'}.`,
  };
  const also = origin.also?.length ? ` Fits as well: ${origin.also.join('; ')}.` : '';
  return (sentences[origin.kind]?.() ?? origin.kind) + also;
}

function valueSentence(value) {
  const elements = `${count(value.elements, 'element')} differ`;
  const kinds = {
    'constant-ratio': `graph is ${figure(value.ratio)} times eager throughout: a scale`,
    rounding: `at most ${figure(value.max_code_distance)} representable values apart: rounding`,
    'non-finite': 'the graph has values that are not finite',
    arbitrary: 'without a pattern in the values',
    'other-dtype': 'the graph\'s bytes are eager\'s values in another dtype of the same width',
  };
  return kinds[value.kind] ? `${elements}; ${kinds[value.kind]}.` : null;
}

function pageOf(cache, row) {
  return Math.floor(row / cache.page_size);
}

function slotOf(cache, row) {
  return row - pageOf(cache, row) * cache.page_size;
}

function slotName(cache, row) {
  return `page ${pageOf(cache, row)}, slot ${slotOf(cache, row)}`;
}

/**
 * With a capital and a full stop, whatever it was written with; an identifier keeps its letters.
 */
function sentence(text) {
  if (!text) return '';
  const word = /^[a-z]+(?=[ ,;.-])/.test(text);
  const whole = word ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

/** `1 row`, `1,204 rows`. */
function count(value, noun) {
  const many = value === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${whole(value)} ${many}`;
}

function whole(value) {
  return Number(value).toLocaleString('en-US');
}

/** Four significant digits; the words for what is no finite number. */
function figure(value) {
  if (typeof value === 'string') return {nan: 'NaN', inf: '∞', '-inf': '-∞'}[value] ?? value;
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  if (Object.is(value, -0)) return '-0';
  const size = Math.abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

function percent(value) {
  return typeof value === 'number' ? `${(100 * value).toFixed(2)} %` : figure(value);
}

function byteCount(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${Number(value.toFixed(unit ? 1 : 0)).toLocaleString('en-US')} ${units[unit]}`;
}

function milliseconds(value) {
  return value > 0 ? `${Number(value.toPrecision(3))} ms` : '–';
}
