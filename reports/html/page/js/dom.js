// Building the page: every text goes in as a text node, so a name is never markup.

/**
 * A new element. Attributes that are functions are listeners (`onclick`); false and null are left
 * out.
 */
function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === 'function')
      element.addEventListener(name.slice(2), value);
    else if (value === true)
      element.setAttribute(name, '');
    else if (value !== false && value != null)
      element.setAttribute(name, value);
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child);
  }
}

function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** A titled part of the page, with a heading that links can name. */
function panel(id, level, title, ...children) {
  const heading = h(`h${level}`, {id: `${id}-title`}, title);
  return h('section', {id, class: 'panel', 'aria-labelledby': `${id}-title`}, heading, children);
}

/** A table whose cells carry their column's name, so that narrow screens can stack them. */
function table(caption, columns, rows, kind = '') {
  const head = h('tr', null, columns.map((column) => h('th', {scope: 'col'}, column)));
  return h(
      'table',
      {class: `stack ${kind}`},
      h('caption', {class: 'unseen'}, caption),
      h('thead', null, head),
      h('tbody', null, rows.map((cells) => tableRow(columns, cells))),
  );
}

function tableRow(columns, cells) {
  const made = cells.map((cell, at) => {
    const content = h('span', {class: 'cell'}, cell);
    if (at === 0) return h('th', {scope: 'row', 'data-label': columns[at]}, content);
    return h('td', {'data-label': columns[at]}, content);
  });
  return h('tr', null, made);
}

/** Names and values, those without a value left out. */
function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const items =
      shown.map(([name, value]) => h('div', null, h('dt', null, name), h('dd', null, value)));
  return h('dl', {class: 'facts'}, items);
}

function chip(text, kind = '') {
  return h('span', {class: `chip ${kind}`}, text);
}

function mono(text) {
  return h('code', null, text);
}

function muted(...children) {
  return h('p', {class: 'muted'}, children);
}

function bullets(items) {
  return h('ul', {class: 'bullets'}, items.map((item) => h('li', null, item)));
}

/** What a limited list left out, or nothing. */
function leftOut(list, what) {
  if (!list || !list.left_out) return null;
  return muted(`${
      count(
          list.left_out,
          what)} more left out of this page to keep it small; the recording has them.`);
}

/** A command with a button that copies it; needs no network and no permission. */
function command(text) {
  const words =
      text.split(' ').flatMap((word, at) => [at ? ' ' : '', h('span', {class: 'word'}, word)]);
  const code = h('code', {class: 'command', tabindex: '0'}, words);
  const button = h('button', {type: 'button', class: 'copy'}, 'Copy');
  button.addEventListener('click', () => copy(text, code, button));
  return h('div', {class: 'command-line'}, code, button);
}

async function copy(text, shown, button) {
  const done = (await writeClipboard(text)) || copySelection(shown);
  button.textContent = done ? 'Copied' : 'Selected: press Ctrl+C';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2500);
}

async function writeClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function copySelection(shown) {
  getSelection().selectAllChildren(shown);
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  }
}
