// What runs in the page that `/export FILE.html` writes: search, days, light and dark. Without it, everything but these
// controls is shown.
import { bringIntoView, one, Part } from './parts.js';
import { Search } from './search-box.js';

/**
 * A page up to this many characters is unpacked completely when the browser is idle, so that the browser's own search
 * works. Longer pages are too heavy.
 */
const LIGHT = 40_000_000;

const parts = [...document.querySelectorAll<HTMLElement>('.part')].map((element) => new Part(element));
const partOf = new Map(parts.map((part) => [part.element as Element, part]));
const undone = undoneTurns();
const search = new Search(parts, unpack);

const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      const part = partOf.get(target);
      if (isIntersecting && part !== undefined) unpack(part);
    }
  },
  { rootMargin: '150% 0px' },
);

function unpack(part: Part): void {
  if (!part.unpack()) return;
  near.unobserve(part.element);
  finish(part.element);
  search.watch(part);
}

/** Adds what only this script can do. */
function finish(element: HTMLElement): void {
  markUndone(element);
  for (const pre of element.querySelectorAll<HTMLElement>('pre.code')) pre.append(copyButton(pre));
}

/** Its word is drawn by the style, so that no selection and no search has it. */
function copyButton(pre: HTMLElement): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.ariaLabel = 'Copy this code';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(pre.textContent ?? '');
    button.classList.add('done');
    setTimeout(() => button.classList.remove('done'), 1500);
  });
  return button;
}

/**
 * The turns that were undone. Their messages are marked here, because the page was written before the undo was known.
 */
function undoneTurns(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { isUndone, turns } of parts.flatMap((part) => part.marks()))
    for (const turn of turns) isUndone ? found.add(turn) : found.delete(turn);
  return found;
}

function markUndone(element: HTMLElement): void {
  if (undone.size === 0) return;
  for (const article of element.querySelectorAll<HTMLElement>('article')) {
    if (!undone.has(article.dataset.turn ?? '')) continue;
    article.classList.add('undone');
    const badge = document.createElement('span');
    badge.className = 'badge';
    badge.textContent = 'undone';
    article.querySelector('h3')?.append(badge);
  }
}

/** Shows the message named in the address, among its neighbours. */
function followAddress(): void {
  const id = location.hash.slice(1);
  const part = parts.find(({ ids }) => ids.includes(id));
  if (part === undefined) return;
  search.clear();
  unpack(part);
  void bringIntoView(one(`#${id}`), 'start');
}

function unpackAll(): void {
  for (const part of parts) unpack(part);
}

function unpackWhenIdle(): void {
  // Safari does not have it.
  globalThis.requestIdleCallback?.((deadline) => {
    while (deadline.timeRemaining() > 10) {
      const next = parts.find(({ isPacked }) => isPacked);
      if (next === undefined) return;
      unpack(next);
    }
    unpackWhenIdle();
  });
}

for (const part of parts) {
  if (part.isPacked) near.observe(part.element);
  else finish(part.element);
}
listDays(() => search.clear());
switchThemes();
const count = parts.reduce((sum, { ids }) => sum + ids.length, 0);
one('#count').textContent = `${count.toLocaleString('en')} messages · `;
one('#tools').hidden = false;
followAddress();
addEventListener('hashchange', followAddress);
addEventListener('beforeprint', unpackAll);
// Clicking the time of the current message does not change the address.
addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('h3 a') !== null) setTimeout(followAddress);
});
if (parts.reduce((sum, { size }) => sum + size, 0) <= LIGHT) unpackWhenIdle();

/** Fills the list of days, grouped by month, and goes to the chosen one. */
function listDays(clearSearch: () => void): void {
  const list = one('#day') as HTMLSelectElement;
  const sections = [...document.querySelectorAll<HTMLElement>('section')];
  let group: HTMLOptGroupElement | null = null;
  sections.forEach((section, place) => {
    const month = section.dataset.month ?? '';
    if (group === null || group.label !== month) {
      group = document.createElement('optgroup');
      group.label = month;
      list.append(group);
    }
    group.append(new Option(section.querySelector('h2')?.textContent ?? '', String(place)));
  });
  list.addEventListener('change', () => {
    const section = sections[Number(list.value)];
    list.selectedIndex = 0;
    if (section === undefined) return;
    clearSearch();
    section.querySelector('h2')?.focus({ preventScroll: true });
    void bringIntoView(section, 'start');
  });
}

/** The button shows the theme that it switches to. */
function switchThemes(): void {
  const button = one('#theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean =>
    (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const show = (): void => {
    button.textContent = isDark() ? 'Light' : 'Dark';
  };
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    show();
  });
  system.addEventListener('change', show);
  show();
}
