import { bringIntoView, folded, one, type Part } from './parts.js';

/** The position of a message that was found. */
interface Found {
  readonly part: Part;
  readonly id: string;
}

/** Shows the messages that have all the words. */
export class Search {
  readonly #parts: readonly Part[];
  readonly #unpack: (part: Part) => void;
  readonly #input = one('#search') as HTMLInputElement;
  readonly #said = one('#found');
  readonly #buttons = ['#previous', '#next'].map((name) => one(name) as HTMLButtonElement);
  #words: readonly string[] = [];
  #found: readonly Found[] = [];
  #place = -1;
  #opened: HTMLDetailsElement[] = [];
  #timer = 0;
  readonly #seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) this.#paint(target);
  });

  constructor(parts: readonly Part[], unpack: (part: Part) => void) {
    this.#parts = parts;
    this.#unpack = unpack;
    this.#input.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#run(), 80);
    });
    this.#input.addEventListener('keydown', (event) => this.#onKey(event));
    this.#buttons.forEach((button, place) => {
      button.addEventListener('click', () => this.#step(place === 0 ? -1 : 1));
    });
    document.addEventListener('keydown', (event) => {
      const isTyped = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyped) return;
      event.preventDefault();
      this.#input.focus();
    });
  }

  /** Shows everything again, at once: what comes next may look for its place. */
  clear(): void {
    clearTimeout(this.#timer);
    if (this.#input.value === '' && this.#words.length === 0) return;
    this.#input.value = '';
    this.#run();
  }

  /** Marks matches in a part that was just unpacked. */
  watch(part: Part): void {
    if (this.#words.length === 0) return;
    for (const article of part.element.querySelectorAll('article:not([hidden])')) this.#seen.observe(article);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape') this.clear();
    if (event.key !== 'Enter') return;
    event.preventDefault();
    this.#step(event.shiftKey ? -1 : 1);
  }

  #run(): void {
    this.#close();
    this.#words = folded(this.#input.value)
      .split(/\s+/)
      .filter((word) => word !== '');
    const isSearching = this.#words.length > 0;
    this.#found = isSearching ? this.#parts.flatMap((part) => this.#foundIn(part)) : [];
    const ids = new Map<Part, Set<string>>(this.#parts.map((part) => [part, new Set()]));
    for (const { part, id } of this.#found) ids.get(part)?.add(id);
    for (const part of this.#parts) part.show(isSearching ? (ids.get(part) ?? null) : null);
    for (const section of document.querySelectorAll('section'))
      section.hidden = isSearching && section.querySelector('.part:not([hidden])') === null;
    one('main').classList.toggle('searching', isSearching);
    for (const button of this.#buttons) button.disabled = this.#found.length === 0;
    this.#said.textContent = isSearching ? 'none found' : '';
    if (!isSearching) return;
    for (const part of this.#parts) if (!part.isPacked) this.watch(part);
    scrollTo(0, 0);
    this.#step(1);
  }

  #foundIn(part: Part): readonly Found[] {
    const texts = part.texts();
    return part.ids.flatMap((id, place) =>
      this.#words.every((word) => texts[place]?.includes(word)) ? [{ part, id }] : [],
    );
  }

  #close(): void {
    this.#seen.disconnect();
    CSS.highlights?.delete('found');
    for (const details of this.#opened) details.open = false;
    this.#opened = [];
    document.querySelector('.current')?.classList.remove('current');
    this.#place = -1;
  }

  #step(by: number): void {
    const count = this.#found.length;
    if (count === 0) return;
    document.querySelector('.current')?.classList.remove('current');
    this.#place = this.#place === -1 ? (by > 0 ? 0 : count - 1) : (this.#place + by + count) % count;
    this.#said.textContent = `${(this.#place + 1).toLocaleString('en')} of ${count.toLocaleString('en')}`;
    const found = this.#found[this.#place];
    if (found === undefined) return;
    this.#unpack(found.part);
    const article = one(`#${found.id}`);
    article.classList.add('current');
    void bringIntoView(article, 'center');
  }

  /** Marks the matching words of a message in view, and unfolds what contains them. */
  #paint(article: Element): void {
    this.#seen.unobserve(article);
    if (CSS.highlights === undefined) return;
    const highlight = CSS.highlights.get('found') ?? new Highlight();
    CSS.highlights.set('found', highlight);
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const ranges = rangesIn(node as Text, this.#words);
      for (const range of ranges) highlight.add(range);
      if (ranges.length > 0) this.#unfold(node);
    }
  }

  #unfold(node: Node): void {
    const details = node.parentElement?.closest('details');
    if (!details || details.open || details.firstElementChild?.contains(node)) return;
    details.open = true;
    this.#opened.push(details);
  }
}

/** The positions of the words in a text; none if lower-casing changes its length. */
function rangesIn(node: Text, words: readonly string[]): readonly Range[] {
  const text = folded(node.data);
  if (text.length !== node.data.length) return [];
  const ranges: Range[] = [];
  for (const word of words) {
    for (let at = text.indexOf(word); at !== -1 && ranges.length < 500; at = text.indexOf(word, at + word.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + word.length);
      ranges.push(range);
    }
  }
  return ranges;
}
