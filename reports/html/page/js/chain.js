// The causal chain, from the index-K write to the next layer.

const STAGES = {
  'index-key-write': 'index-K write',
  'key-value-write': 'K and V write',
  score: 'score',
  'top-k': 'top-k',
  'blocks-read': 'blocks read',
  output: 'output',
  'next-layer': 'next layer',
};

/** Writes depend on no earlier link: a second broken one is no consequence of the first. */
const WRITES = new Set(['index-key-write', 'key-value-write']);

function chainPanel(details) {
  if (!details.chain.length) return null;
  return panel(
      'chain', 3, 'Causal chain', h('ol', {class: 'chain'}, details.chain.map(chainBox)),
      chainWords(details.chain));
}

function chainState(link) {
  if (link.first) return ['first', '✕ broken first'];
  if (link.broken && WRITES.has(link.stage)) return ['first', '✕ broken too'];
  if (link.broken) return ['follows', '↳ follows'];
  return ['whole', '✓ whole'];
}

function chainBox(link) {
  const [state, words] = chainState(link);
  const at = [link.layer >= 0 && `layer ${link.layer}`, link.step >= 0 && `step ${link.step}`]
                 .filter(Boolean)
                 .join(', ');
  return h(
      'li', {class: `link ${state}`}, h('strong', null, STAGES[link.stage] ?? link.stage),
      h('span', {class: 'state'}, words), link.broken && at && h('span', {class: 'at'}, at),
      link.detail && h('span', {class: 'detail'}, link.detail));
}

function chainWords(chain) {
  const first = chain.find((link) => link.first);
  if (!first) return muted('No link is broken.');
  const later = chain.filter((link) => link.broken && !link.first && !WRITES.has(link.stage))
                    .map((link) => STAGES[link.stage] ?? link.stage);
  const consequences = later.length ? ` Consequences: ${later.join(', ')}.` : '';
  return muted(`First broken link: ${STAGES[first.stage] ?? first.stage}.${consequences}`);
}
