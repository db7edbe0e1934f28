// Error budget: what the arithmetic itself loses, so that normal fp8 error is not taken for damage.

const BIN_TOP = 0.25;
const CHART = {
  width: 420,
  height: 150,
  left: 8,
  bottom: 26,
  top: 22
};

function budgetPanel(report) {
  if (!report.error_budgets.length) return null;
  return panel(
      'budget', 3, 'Error budget',
      muted(
          'Error of the number format against the unquantised computation, in eager. No finding rests on it.'),
      h('div', {class: 'budgets'}, report.error_budgets.map(budgetCard)));
}

function budgetCard(budget) {
  const verdict = budget.normal ? chip('✓ normal', 'agreed') : chip('! not normal', 'diverged');
  return h(
      'figure', {class: 'budget'},
      h('figcaption', null, h('strong', null, budget.dtype), ' ', verdict),
      h('p', null, budgetWords(budget)), histogram(budget), facts([
        ['round trip, mean relative', percent(budget.round_trip)],
        ['expected', percent(budget.expected)],
        ['attention, mean relative', percent(budget.attention)],
        ['spread of the logits', figure(budget.spread)]
      ]));
}

function budgetWords(budget) {
  const size = `Encoding and decoding loses ${percent(budget.round_trip)} on average`;
  if (budget.normal) return `${size}: normal for ${budget.dtype}.`;
  return `${size}: not normal for ${budget.dtype}, where ${percent(budget.expected)} is expected.`;
}

function histogram(budget) {
  const bins = budget.histogram;
  const most = Math.max(...bins, 0);
  if (!most) return null;
  const {width, height, left, bottom, top} = CHART;
  const step = (width - 2 * left) / bins.length;
  const tall = (value) => (height - bottom - top) * (value / most);
  const bars = bins.map(
      (value, i) =>
          svg('rect', {
            class: 'bar',
            x: left + i * step + 1,
            width: step - 2,
            y: height - bottom - tall(value),
            height: Math.max(tall(value), value ? 1 : 0),
          },
              svg('title', null,
                  `${percent(i * BIN_TOP / bins.length)} to ${
                      percent((i + 1) * BIN_TOP / bins.length)}: ${whole(value)}`)));
  return svg(
      'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': histogramWords(bins)},
      bars, meanLine(budget), axis());
}

function meanLine(budget) {
  if (typeof budget.round_trip !== 'number' || budget.round_trip > BIN_TOP) return null;
  const x = axisX(budget.round_trip);
  const right = x > CHART.width / 2;
  return [
    svg('line', {class: 'mean', x1: x, x2: x, y1: 2, y2: CHART.height - CHART.bottom}),
    svg('text',
        {x: right ? x - 4 : x + 4, y: 13, 'text-anchor': right ? 'end' : 'start'},
        `mean ${percent(budget.round_trip)}`),
  ];
}

function axisX(value) {
  return CHART.left + (CHART.width - 2 * CHART.left) * (value / BIN_TOP);
}

function axis() {
  const y = CHART.height - CHART.bottom;
  const ticks = [0, 0.05, 0.1, 0.15, 0.2, 0.25].map(
      (value) =>
          svg('text', {
            x: axisX(value),
            y: y + 16,
            'text-anchor': value === 0 ? 'start' :
                value === BIN_TOP      ? 'end' :
                                         'middle',
          },
              `${Math.round(100 * value)} %`));
  return [
    svg('line', {class: 'axis', x1: CHART.left, x2: CHART.width - CHART.left, y1: y, y2: y}), ticks
  ];
}

function histogramWords(bins) {
  const total = bins.reduce((sum, value) => sum + value, 0);
  const half = bins.findIndex(
      (_, i) => bins.slice(0, i + 1).reduce((sum, value) => sum + value, 0) >= total / 2);
  return `Histogram of the relative error of ${whole(total)} values; half of them lie below ${
      percent((half + 1) * BIN_TOP / bins.length)}.`;
}
