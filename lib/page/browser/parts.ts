/** The estimated height of a message before layout. */
const HEIGHT = '11rem';

/**
 * Some consecutive messages. All parts but the first are inside `noscript`, which a browser with scripts reads as plain
 * text: ten thousand messages open at once, and each part becomes elements when needed. `hi` wrote them, and escaped
 * everything in them that came from others.
 */
export class Part {
  readonly element: HTMLElement;
  /** The ids of its messages. */
  readonly ids: readonly string[];
  #packed: string | null;
  #texts: readonly string[] | null = null;
  #shown: ReadonlySet<string> | null = null;

  constructor(element: HTMLElement) {
    this.element = element;
    this.#packed = element.querySelector('noscript')?.textContent ?? null;
    this.ids =
      this.#packed === null
        ? this.#articles().map(({ id }) => id)
        : [...this.#packed.matchAll(/<article id="(m\d+)"/g)].map(([, id = '']) => id);
    this.#reserve();
  }

  get isPacked(): boolean {
    return this.#packed !== null;
  }

  /** The length of the text that is not yet unpacked. */
  get size(): number {
    return this.#packed?.length ?? 0;
  }

  /** The turns that its marks undo or redo, in order. */
  marks(): readonly { readonly isUndone: boolean; readonly turns: readonly string[] }[] {
    const html = this.#packed ?? this.element.innerHTML;
    return [...html.matchAll(/ data-(undone|redone)="([\d ]+)"/g)].map(([, kind, turns = '']) => ({
      isUndone: kind === 'undone',
      turns: turns.split(' '),
    }));
  }

  /** What each message says, in lower case. */
  texts(): readonly string[] {
    this.#texts ??= (this.#packed === null ? this.#articles().map(textOfElement) : textsIn(this.#packed)).map(folded);
    return this.#texts;
  }

  /** Turns its text into elements. Returns whether there was anything to do. */
  unpack(): boolean {
    if (this.#packed === null) return false;
    this.element.innerHTML = this.#packed;
    this.#packed = null;
    this.element.style.minHeight = '';
    this.#hide();
    return true;
  }

  /** Shows only these messages, null for all. */
  show(ids: ReadonlySet<string> | null): void {
    this.#shown = ids;
    this.element.hidden = ids?.size === 0;
    this.#reserve();
    this.#hide();
  }

  #hide(): void {
    if (this.#packed !== null) return;
    for (const article of this.#articles()) article.hidden = this.#shown !== null && !this.#shown.has(article.id);
  }

  #reserve(): void {
    if (this.#packed !== null)
      this.element.style.minHeight = `calc(${HEIGHT} * ${this.#shown?.size ?? this.ids.length})`;
  }

  #articles(): readonly HTMLElement[] {
    return [...this.element.querySelectorAll('article')];
  }
}

/** Text for comparing. */
export const folded = (text: string): string => text.toLocaleLowerCase();

const textOfElement = (element: Element): string => element.textContent ?? '';

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function textsIn(html: string): readonly string[] {
  return html
    .split('<article ')
    .slice(1)
    .map((article) => {
      const pieces = article.slice(0, article.indexOf('</article>')).split('<');
      const text = pieces.map((piece) => piece.slice(piece.indexOf('>') + 1)).join('');
      return text.replace(/&(amp|lt|gt|quot);/g, (_, name: string) => CHARACTERS[name] ?? '');
    });
}

/** The element for this selector. */
export function one(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`The page has no ${selector}.`);
  return found;
}

/** Scrolls to an element until it stays in place: elements get their real height only when they come into view. */
export async function bringIntoView(element: Element, block: 'start' | 'center'): Promise<void> {
  for (let frame = 0; frame < 6; frame += 1) {
    element.scrollIntoView({ block });
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}
