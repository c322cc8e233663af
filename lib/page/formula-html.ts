import { type Context, createContext, runInContext } from 'node:vm';
import temml from 'temml';
import { monotonic } from '../waits.js';
import type { Formula } from './find-formulas.js';

/** The longest formula that is converted, in characters. */
const LONGEST = 5000;

/** Milliseconds: commands inside each other can take time without end. */
const LONGEST_TIME = { formula: 500, text: 3000 };

/** In em and in pt: nothing in a formula may be larger, such as `\rule{9999em}{9999em}`. */
const LARGEST: [number, number] = [20, 240];

/** Converts the formulas of one text, as long as they do not take too long. */
export class Formulas {
  #left = LONGEST_TIME.text;
  readonly #work = { convert: (): string => '' };
  // Only a context of its own ends a conversion while it runs.
  #context: Context | null = null;

  /** A formula as MathML, with its source; null if it cannot be read, or is more than a formula. */
  html({ latex, isDisplayed }: Formula): string | null {
    if (latex.length > LONGEST || this.#left <= 0) return null;
    const options = { displayMode: isDisplayed, throwOnError: true, trust: false, annotate: true, maxSize: LARGEST };
    this.#context ??= createContext(this.#work);
    this.#work.convert = () => temml.renderToString(latex, options);
    const timeout = Math.ceil(Math.min(LONGEST_TIME.formula, this.#left));
    const start = monotonic();
    try {
      return ownMarkup(runInContext('convert()', this.#context, { timeout }));
    } catch {
      return null;
    } finally {
      this.#left -= monotonic() - start;
    }
  }
}

/** The elements of MathML that a page shows. */
const ELEMENTS: ReadonlySet<string> = new Set(
  `math semantics annotation mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover
  mmultiscripts mprescripts none mtable mtr mtd mpadded mphantom mstyle menclose`.split(/\s+/),
);

const ATTRIBUTES: ReadonlySet<string> = new Set(
  `display displaystyle scriptlevel encoding fence form stretchy symmetric separator accent accentunder largeop
  movablelimits lspace rspace minsize maxsize width height depth voffset linethickness mathvariant mathsize`.split(
    /\s+/,
  ),
);

/** The classes of Temml that the style of the page knows. */
const CLASSES: ReadonlySet<string> = new Set(
  'tml-jot tml-left tml-right tml-cancel tml-xcancel tml-overline tml-underline upstrike downstrike sout'.split(' '),
);

/**
 * Classes for declarations that matter: the page's policy forbids style attributes. Colours are left out, because
 * nobody chose them for both themes.
 */
const DECLARATIONS: readonly (readonly [RegExp, string])[] = [
  [/^padding-left:0/, 'no-left'],
  [/^padding-right:0/, 'no-right'],
  [/^padding-left:1em/, 'far-left'],
  [/^border:/, 'boxed'],
  [/^border-(?:left|right|top|bottom):/, 'line'],
];

const TAG = /<(\/?)([a-z]+)((?: [a-z-]+="[^"<>]*")*)>/g;

/** The markup with nothing but what is known; null if there is an element that is not. */
function ownMarkup(markup: string): string | null {
  let isKnown = true;
  const kept = markup.replace(TAG, (_tag, slash: string, name: string, attributes: string) => {
    isKnown &&= ELEMENTS.has(name);
    return `<${slash}${name}${ownAttributes(attributes)}>`;
  });
  return isKnown && !markup.replace(TAG, '').includes('<') ? kept : null;
}

function ownAttributes(attributes: string): string {
  const found = [...attributes.matchAll(/ ([a-z-]+)="([^"]*)"/g)];
  const kept = found.filter(([, name = '']) => ATTRIBUTES.has(name)).map(([whole]) => whole);
  const classes = found.flatMap(([, name, value = '']) => {
    if (name === 'style') return value.split(';').flatMap(classOf);
    return name === 'class' ? value.split(' ').filter((one) => CLASSES.has(one)) : [];
  });
  return kept.join('') + (classes.length === 0 ? '' : ` class="${[...new Set(classes)].join(' ')}"`);
}

function classOf(declaration: string): readonly string[] {
  const [, side = ''] = /^border-([a-z]+):/.exec(declaration) ?? [];
  const name = DECLARATIONS.find(([pattern]) => pattern.test(declaration))?.[1];
  return name === undefined ? [] : [side === '' ? name : `${name}-${side}`];
}
